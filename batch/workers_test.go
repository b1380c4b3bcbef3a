package batch

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/memory"
	"github.com/sluicedata/sluice/source"
)

// numbers decodes numbers, as slowly as chance has it; anything else is a bad record.
type numbers struct {
	format.Decoder
	builder *array.RecordBuilder
	rows    int
}

func newNumbers(a arrowmemory.Allocator) *numbers {
	return &numbers{builder: array.NewRecordBuilder(a, arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil))}
}

func (d *numbers) Decode(b *source.Block, bad func(format.Bad) error) error {
	for i, v := range b.Values {
		for range rand.IntN(3) {
			runtime.Gosched()
		}
		n, err := strconv.ParseInt(string(v), 10, 64)
		if err != nil {
			if err := bad(format.Bad{Partition: b.Partition, Position: b.Positions[i], Reason: "no number", Value: v}); err != nil {
				return err
			}
			continue
		}
		d.builder.Field(0).(*array.Int64Builder).Append(n)
		d.rows++
	}
	return nil
}

func (d *numbers) Rows() int    { return d.rows }
func (d *numbers) Bytes() int64 { return int64(8 * d.rows) }

func (d *numbers) Flush() arrow.Record {
	d.rows = 0
	return d.builder.NewRecord()
}

// blocksOf makes blocks of random sizes, of numbers and some bad records. freed counts those that nobody holds any more.
func blocksOf(random *rand.Rand, blocks int, freed *atomic.Int64, bad int) []*source.Block {
	var out []*source.Block
	at := 0
	for i := range blocks {
		b := &source.Block{Partition: "p", Free: func() { freed.Add(1) }}
		if i%5 == 4 {
			b.Kafka = &source.Kafka{}
		}
		for range random.IntN(40) {
			v := strconv.Itoa(at)
			if random.IntN(bad) == 0 {
				v = "bad " + v
			}
			b.Values, b.Positions, b.Bytes = append(b.Values, []byte(v)), append(b.Positions, int64(at)), b.Bytes+int64(len(v))
			at++
		}
		out = append(out, b)
	}
	return out
}

// outcome is what settle got, in order.
type outcome struct {
	Records [][]int64 // as they went to the writer
	Bad     []string
	Err     error
	Taken   bool // the error was take's
}

// decodeAll decodes the blocks with so many workers. settled may fail.
func decodeAll(t *testing.T, blocks []*source.Block, parallelism int, policy Policy, share int64, settled func(*run) error) (o outcome) {
	t.Helper()
	allocator := arrowmemory.NewCheckedAllocator(arrowmemory.DefaultAllocator)
	account := memory.New(share).Open("decode", share)
	decoders := make([]format.Decoder, parallelism)
	for i := range decoders {
		decoders[i] = newNumbers(allocator)
	}
	w := decodeBeside(decoders, account, policy, func(r *run) error {
		for _, bad := range r.bad {
			o.Bad = append(o.Bad, fmt.Sprintf("%s %d %q", bad.place, bad.Position, bad.Value))
		}
		if r.rows != nil {
			o.Records = append(o.Records, append([]int64(nil), r.rows.Column(0).(*array.Int64).Int64Values()...))
		}
		return settled(r)
	})
	for _, b := range blocks {
		o.Err = w.take(t.Context(), b)
		b.Release()
		if o.Taken = o.Err != nil; o.Taken {
			break
		}
	}
	if err := w.end(); o.Err == nil {
		o.Err = err
	} else if !errors.Is(o.Err, err) {
		t.Errorf("take: %v, end: %v", o.Err, err)
	}
	for _, d := range decoders {
		d.(*numbers).builder.Release()
	}
	allocator.AssertSize(t, 0)
	if room := account.Room(); room != share {
		t.Errorf("%d workers: %d bytes of %d are still held", parallelism, share-room, share)
	}
	return o
}

func TestWorkersSettleInOrderWhateverTheirNumber(t *testing.T) {
	for seed := range uint64(8) {
		var want outcome
		for _, parallelism := range []int{1, 2, 3, 8} {
			for _, policy := range []Policy{Skip, Quarantine} {
				var freed atomic.Int64
				random := rand.New(rand.NewPCG(seed, 1))
				share := int64(64 << random.IntN(8))
				blocks := blocksOf(random, 60, &freed, 7)
				got := decodeAll(t, blocks, parallelism, policy, share, func(r *run) error { return r.err })
				if freed.Load() != int64(len(blocks)) {
					t.Errorf("seed %d, %d workers: %d of %d blocks are free", seed, parallelism, freed.Load(), len(blocks))
				}
				checkAll(t, blocks, got, policy)
				if policy == Skip {
					continue
				}
				if want.Records == nil {
					want = got
				}
				if !reflect.DeepEqual(want, got) {
					t.Errorf("seed %d, %d workers: %v, want %v", seed, parallelism, got, want)
				}
			}
		}
	}
}

// checkAll compares with what one loop makes of the blocks.
func checkAll(t *testing.T, blocks []*source.Block, got outcome, policy Policy) {
	t.Helper()
	var rows []int64
	var bad []string
	for _, b := range blocks {
		for i, v := range b.Values {
			if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
				rows = append(rows, n)
				continue
			}
			place := "line"
			if b.Kafka != nil {
				place = "offset"
			}
			if policy != Quarantine {
				v = nil
			}
			bad = append(bad, fmt.Sprintf("%s %d %q", place, b.Positions[i], v))
		}
	}
	var all []int64
	for _, r := range got.Records {
		all = append(all, r...)
	}
	if got.Err != nil || !reflect.DeepEqual(rows, all) || !reflect.DeepEqual(bad, got.Bad) {
		t.Errorf("%v\nrows %v\nwant %v\nbad %v\nwant %v", got.Err, all, rows, got.Bad, bad)
	}
}

func TestFirstBadRecordInOrderEndsTheBatch(t *testing.T) {
	for seed := range uint64(10) {
		for _, parallelism := range []int{1, 2, 8} {
			var freed atomic.Int64
			blocks := blocksOf(rand.New(rand.NewPCG(seed, 2)), 40, &freed, 100)
			first := -1
			for _, b := range blocks {
				for i, v := range b.Values {
					if _, err := strconv.Atoi(string(v)); err != nil && first < 0 {
						first = int(b.Positions[i])
					}
				}
			}
			stop := errors.New("stop")
			got := decodeAll(t, blocks, parallelism, Fail, 512, func(r *run) error {
				if len(r.bad) > 0 {
					return stop
				}
				return r.err
			})
			switch {
			case first < 0 && got.Err != nil, first >= 0 && got.Err != stop, //nolint:errorlint // the very same
				first >= 0 && (len(got.Bad) != 1 || got.Bad[0] != fmt.Sprintf("line %d \"\"", first) && got.Bad[0] != fmt.Sprintf("offset %d \"\"", first)):
				t.Errorf("seed %d, %d workers: %v, bad %v, want the one at %d", seed, parallelism, got.Err, got.Bad, first)
			}
		}
	}
}

func TestWriterThatFailsEndsTheWorkersAndLeavesNothing(t *testing.T) {
	for fails := range 12 {
		settled := 0
		var freed atomic.Int64
		blocks := blocksOf(rand.New(rand.NewPCG(3, 3)), 60, &freed, 1000)
		full := errors.New("the disk is full")
		got := decodeAll(t, blocks, 2, Skip, 256, func(*run) error {
			if settled++; settled > fails {
				return full
			}
			return nil
		})
		if !errors.Is(got.Err, full) || settled != fails+1 {
			t.Errorf("%v after %d runs, want an error after %d", got.Err, settled, fails+1)
		}
	}
}

func TestWorkersEndWhenTheContextDoes(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	account := memory.New(100).Open("decode", 100)
	hold := make(chan struct{})
	w := decodeBeside([]format.Decoder{newNumbers(arrowmemory.DefaultAllocator)}, account, Skip, func(*run) error {
		<-hold // the writer is slow, and memory is short
		return nil
	})
	var err error
	for range 100 {
		b := &source.Block{Values: [][]byte{[]byte("1")}, Positions: []int64{1}, Bytes: 60}
		if len(w.order) > 0 {
			cancel()
		}
		if err = w.take(ctx, b); err != nil {
			break
		}
	}
	close(hold)
	if end := w.end(); !errors.Is(err, context.Canceled) || end != nil {
		t.Errorf("take: %v, end: %v", err, end)
	}
	if account.Room() != 100 {
		t.Errorf("there is room for %d bytes", account.Room())
	}
}

// TestARunHasNoMoreRecordsThanItsCoresAreGoodFor gives decoders blocks of a thousand records each.
func TestARunHasNoMoreRecordsThanItsCoresAreGoodFor(t *testing.T) {
	for workers, want := range map[int]int64{1: 4000, 2: 8000} {
		decoders := make([]format.Decoder, workers)
		for i := range decoders {
			decoders[i] = newNumbers(arrowmemory.DefaultAllocator)
		}
		var rows []int64
		w := decodeBeside(decoders, memory.New(16<<20).Open("decode", 16<<20), Skip, func(r *run) error {
			rows = append(rows, r.rows.NumRows())
			return nil
		})
		for range 9 {
			b := &source.Block{Values: slices.Repeat([][]byte{[]byte("1")}, 1000), Positions: make([]int64, 1000), Bytes: 1000}
			if err := w.take(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			b.Release()
		}
		if err := w.end(); err != nil || rows[0] != want || slices.Max(rows) != want {
			t.Errorf("%d decoders had runs of %d rows, want %d at most: %v", workers, rows, want, err)
		}
	}
}

func TestDecodersGoOnWhileTheWriterIsBusy(t *testing.T) {
	for workers, waiting := range map[int]int{1: 1, 2: 2 * runsAhead, 3: 3 * runsAhead} {
		synctest.Test(t, func(t *testing.T) {
			const share = 64 << 10
			decoders := make([]format.Decoder, workers)
			for i := range decoders {
				decoders[i] = newNumbers(arrowmemory.DefaultAllocator)
			}
			busy := make(chan struct{})
			w := decodeBeside(decoders, memory.New(share).Open("decode", share), Skip, func(*run) error {
				<-busy
				return nil
			})
			var decoded atomic.Int64
			taken := make(chan error)
			go func() {
				for range 2 * waiting {
					b := &source.Block{Values: [][]byte{[]byte("1")}, Positions: []int64{1}, Bytes: share / runShare, Free: func() { decoded.Add(1) }}
					if err := w.take(t.Context(), b); err != nil {
						taken <- err
						return
					}
					b.Release()
				}
				taken <- nil
			}()
			synctest.Wait()
			if n := decoded.Load(); n != int64(1+waiting) {
				t.Errorf("%d workers: %d runs are decoded while the writer has the first, want it and %d", workers, n, waiting)
			}
			close(busy)
			if err := errors.Join(<-taken, w.end()); err != nil {
				t.Error(err)
			}
		})
	}
}
