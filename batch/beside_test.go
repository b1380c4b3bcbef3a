package batch

import (
	"context"
	"errors"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/sluicedata/sluice/memory"
)

// scripted is a writer whose Write is a function.
type scripted struct {
	Writer
	write func(arrow.Record) error
}

func (s *scripted) Write(_ context.Context, rows arrow.Record) error { return s.write(rows) }

func oneRow(a arrowmemory.Allocator) arrow.Record {
	b := array.NewRecordBuilder(a, arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil))
	defer b.Release()
	b.Field(0).(*array.Int64Builder).Append(1)
	return b.NewRecord()
}

func TestWriterWorksBesideTheDecoder(t *testing.T) {
	account := memory.New(100).Open("decode", 100)
	second := make(chan struct{})
	written := 0
	b := writeBeside(t.Context(), &scripted{write: func(arrow.Record) error {
		if written++; written == 1 {
			<-second // the first is being written while the second is handed over
		}
		return nil
	}}, account)
	for i := range 2 {
		account.Add(10)
		if err := b.hand(handed{oneRow(arrowmemory.DefaultAllocator), 10}); err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			close(second)
		}
	}
	if err := b.end(); err != nil || written != 2 || account.Room() != 100 {
		t.Errorf("%v, %d records written, room for %d bytes", err, written, account.Room())
	}
}

func TestWriterThatFailsBesideTheDecoderLeavesNothing(t *testing.T) {
	for fails := range 4 {
		allocator := arrowmemory.NewCheckedAllocator(arrowmemory.DefaultAllocator)
		account := memory.New(100).Open("decode", 100)
		broken := errors.New("the disk is full")
		written := 0
		b := writeBeside(t.Context(), &scripted{write: func(arrow.Record) error {
			if written++; written > fails {
				return broken
			}
			return nil
		}}, account)
		var err error
		for range 6 {
			account.Add(10)
			if err = b.hand(handed{oneRow(allocator), 10}); err != nil {
				break
			}
		}
		if end := b.end(); !errors.Is(end, broken) || err != nil && !errors.Is(err, broken) {
			t.Errorf("%v, then %v", err, end)
		}
		if written != fails+1 || account.Room() != 100 {
			t.Errorf("%d records were written, and there is room for %d bytes", written, account.Room())
		}
		allocator.AssertSize(t, 0)
	}
}
