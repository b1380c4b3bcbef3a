package kafka

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func demands(size float64, records ...int64) []demand {
	ds := make([]demand, len(records))
	for i, n := range records {
		ds[i] = demand{records: n, size: size}
	}
	return ds
}

func TestShareIsFair(t *testing.T) {
	tests := []struct {
		name                 string
		demands              []demand
		records, bytes, turn int64
		want                 []int64
	}{
		{"no limits give all", demands(1, 5, 0, 7), 0, 0, 0, []int64{5, 0, 7}},
		{"small ones give all, large ones the same", demands(1, 2, 100, 1000, 1), 23, 0, 0, []int64{2, 10, 10, 1}},
		{"the rest goes by turns", demands(1, 9, 9, 9), 10, 0, 1, []int64{3, 4, 3}},
		{"fewer records than partitions go by turns", demands(1, 9, 9, 9, 9), 2, 0, 3, []int64{1, 0, 0, 1}},
		{"bytes are shared, not records", []demand{{100, 10}, {100, 1}}, 0, 200, 0, []int64{10, 100}},
		{"a huge record still goes alone", demands(5000, 3, 3), 0, 100, 0, []int64{1, 0}},
		{"huge records take turns", demands(5000, 3, 3), 0, 100, 1, []int64{0, 1}},
		{"ones are given while bytes last", demands(60, 3, 3, 3), 0, 130, 0, []int64{1, 1, 0}},
		{"empty partitions get nothing", demands(1, 0, 0), 5, 5, 0, []int64{0, 0}},
		{"no partitions", nil, 5, 5, 0, []int64{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, share(tt.demands, tt.records, tt.bytes, tt.turn)); diff != "" {
				t.Errorf("share (-want +got):\n%s", diff)
			}
		})
	}
}

func TestShareKeepsLimitsAndAlwaysMovesOn(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		ds := make([]demand, 1+rng.IntN(20))
		var wanted int64
		for i := range ds {
			ds[i] = demand{records: rng.Int64N(1000) * rng.Int64N(2), size: 1 + rng.Float64()*5000}
			wanted += ds[i].records
		}
		maxRecords, maxBytes := rng.Int64N(200), rng.Int64N(100000)
		var records int64
		var bytes float64
		for i, n := range share(ds, maxRecords, maxBytes, rng.Int64()) {
			if n < 0 || n > ds[i].records {
				t.Fatalf("granted %d of %d", n, ds[i].records)
			}
			records += n
			bytes += float64(n) * ds[i].size
		}
		switch {
		case wanted > 0 && records == 0:
			t.Fatalf("nothing granted of %v within %d records, %d bytes", ds, maxRecords, maxBytes)
		case maxRecords > 0 && records > maxRecords:
			t.Fatalf("granted %d records of at most %d", records, maxRecords)
		case maxBytes > 0 && records > 1 && bytes > float64(maxBytes)+float64(len(ds)):
			t.Fatalf("granted %.0f bytes of at most %d", bytes, maxBytes)
		}
	}
}

// A batch smaller than the number of partitions moves the turn on, so that all are served as fast as if they queued.
func TestNoPartitionStarves(t *testing.T) {
	left := make([]int64, 64)
	for i := range left {
		left[i] = 5
	}
	left[0] = 1_000_000
	var turn int64
	for batch := 0; batch < 40; batch++ {
		for i, n := range share(demands(1, left...), 10, 0, turn) {
			left[i] -= n
			turn += n
		}
	}
	for i, n := range left[1:] {
		if n > 3 {
			t.Errorf("partition %d has been given %d of 5 after 40 batches of 10", i+1, 5-n)
		}
	}
}

func TestLevelAgreesWithOneByOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		amounts := make([]int64, 1+rng.IntN(8))
		for i := range amounts {
			amounts[i] = rng.Int64N(30)
		}
		limit, turn := rng.Int64N(120), rng.Int64N(100)
		if diff := cmp.Diff(oneByOne(amounts, limit, turn), level(amounts, limit, turn)); diff != "" {
			t.Fatalf("level(%v, %d, %d) (-want +got):\n%s", amounts, limit, turn, diff)
		}
	}
}

// oneByOne deals whole rounds while all that still want can be served, then one each from turn on.
func oneByOne(amounts []int64, limit, turn int64) []int64 {
	granted := make([]int64, len(amounts))
	for {
		var want int64
		for i := range amounts {
			if granted[i] < amounts[i] {
				want++
			}
		}
		if want == 0 || want > limit {
			break
		}
		for i := range amounts {
			if granted[i] < amounts[i] {
				granted[i]++
				limit--
			}
		}
	}
	for k := 0; k < len(amounts) && limit > 0; k++ {
		if i := (int(turn) + k) % len(amounts); granted[i] < amounts[i] {
			granted[i]++
			limit--
		}
	}
	return granted
}
