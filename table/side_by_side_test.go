package table

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/sluicedata/sluice/schema"
)

func TestSideBySideDoesEachOnceAndReturnsTheFirstError(t *testing.T) {
	for workers := range 5 {
		for n := range 9 {
			var did atomic.Int64
			err := sideBySide(workers, n, func(i int) error {
				did.Add(1 << (8 * i))
				return nil
			})
			var want int64
			for i := range n {
				want += 1 << (8 * i)
			}
			if err != nil || did.Load() != want {
				t.Errorf("%d workers, %d: %v, did %x", workers, n, err, did.Load())
			}
		}
		broken := func(i int) error {
			if i > 1 {
				return fmt.Errorf("broken at %d", i)
			}
			return nil
		}
		if err := sideBySide(workers, 6, broken); err == nil || err.Error() != "broken at 2" {
			t.Errorf("%d workers: %v", workers, err)
		}
	}
}

func TestColumnsEncodedSideBySideMakeTheSameFile(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	odd := randomStruct(r, 12, 3)
	oddRows := randomRecord(r, odd, 1000)
	event, events := eventRecord(t, 12_000)
	for _, parallelism := range []int{2, 7} {
		if !bytes.Equal(encoded(t, event, events, 1), encoded(t, event, events, parallelism)) {
			t.Errorf("%d columns of events at a time make another file than one", parallelism)
		}
		if !bytes.Equal(encoded(t, odd, oddRows, 1), encoded(t, odd, oddRows, parallelism)) {
			t.Errorf("%d odd columns at a time make another file than one", parallelism)
		}
	}
}

// encoded is a file of two row groups, from an encoder that takes so many columns at a time.
func encoded(t *testing.T, s *schema.Type, record arrow.Record, parallelism int) []byte {
	t.Helper()
	l, err := newLayout(s, map[string]string{codecProperty: "zstd"}, "test", newZstd())
	if err != nil {
		t.Fatal(err)
	}
	l.parallelism = parallelism
	columns, err := bind(l.columns, record)
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]int32, record.NumRows())
	for i := range rows {
		rows[i] = int32(i)
	}
	var file bytes.Buffer
	e := newEncoder(l, 4<<10, &workspace{})
	if err := errors.Join(e.begin(&file), e.write(columns, rows, 100), e.endGroup(), e.write(columns, rows[100:], 100)); err != nil {
		t.Fatal(err)
	}
	if _, err := e.end(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}
