package files

import (
	"context"
	"errors"

	"github.com/sluicedata/sluice/source"
)

var errSampled = errors.New("enough records")

// Sample hands over the first n records of the oldest files that the settings choose, or all of them when there are
// fewer. It needs no Bookkeeping and heeds neither Settle nor what was read before.
func Sample(ctx context.Context, cfg Config, n int, emit func(*source.Block) error) (err error) {
	cfg.Settle, cfg.Bookkeeping = 0, cfg.Store
	s, err := New(cfg)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := s.Close(); err == nil {
			err = closeErr
		}
	}()
	s.reader.wayOut = "try again"
	sc, err := s.scan(ctx)
	if err != nil {
		return err
	}
	return s.sample(ctx, sc.waiting, n, emit)
}

func (s *Source) sample(ctx context.Context, waiting []candidate, n int, emit func(*source.Block) error) error {
	for _, c := range waiting {
		if n <= 0 {
			return nil
		}
		err := s.reader.read(ctx, file{s.names.partition(c.key), c.key, c.version}, nil, func(b *source.Block) error {
			if err := emit(firstOf(b, n)); err != nil {
				return err
			}
			if n -= len(b.Values); n <= 0 {
				return errSampled
			}
			return nil
		})
		if err != nil && err != errSampled {
			return err
		}
	}
	return nil
}

// firstOf is the block's first n records.
func firstOf(b *source.Block, n int) *source.Block {
	if len(b.Values) <= n {
		return b
	}
	cut := &source.Block{Partition: b.Partition, Values: b.Values[:n], Positions: b.Positions[:n], Bytes: b.Bytes, File: b.File}
	for _, f := range b.Faults {
		if f.Index < n {
			cut.Faults = append(cut.Faults, f)
		}
	}
	return cut
}
