package kafka

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
)

// errEnough ends a read that has brought what was asked for.
var errEnough = errors.New("enough records")

// Sample reads up to n records of the topics, from where cfg.Start says, spread over the partitions. The blocks are the
// caller's. It commits nothing.
func Sample(ctx context.Context, cfg Config, n int) ([]*source.Block, error) {
	s, err := New(cfg)
	if err != nil {
		return nil, err
	}
	defer s.Close() //nolint:errcheck // always nil
	if err := s.Restore(ctx, source.History{First: true}); err != nil {
		return nil, err
	}
	var blocks []*source.Block
	for left := n; left > 0; {
		planned, err := s.Next(ctx, source.Limits{MaxRecords: int64(left), MaxBytes: ownMemory})
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(planned.Ranges, func(r offsetlog.Range) bool { return r.Len() > 0 }) {
			break
		}
		_, err = s.Read(ctx, planned.Ranges, func(b *source.Block) error {
			b = clone(b, left)
			blocks = append(blocks, b)
			if left -= len(b.Values); left <= 0 {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return nil, err
		}
		s.Advance(0, planned.Ranges)
	}
	return blocks, nil
}

// clone copies at most n records of a block.
func clone(b *source.Block, n int) *source.Block {
	n = min(n, len(b.Values))
	k := *b.Kafka
	k.Timestamps = slices.Clone(k.Timestamps[:n])
	k.Keys = cloneAll(k.Keys[:n])
	if k.Headers != nil {
		k.Headers = slices.Clone(k.Headers[:n])
		for i, list := range k.Headers {
			k.Headers[i] = slices.Clone(list)
			for h := range k.Headers[i] {
				k.Headers[i][h].Value = bytes.Clone(list[h].Value)
			}
		}
	}
	return &source.Block{
		Partition: b.Partition,
		Values:    cloneAll(b.Values[:n]),
		Positions: slices.Clone(b.Positions[:n]),
		Bytes:     b.Bytes,
		Kafka:     &k,
	}
}

func cloneAll(values [][]byte) [][]byte {
	copied := make([][]byte, len(values))
	for i, v := range values {
		copied[i] = bytes.Clone(v)
	}
	return copied
}
