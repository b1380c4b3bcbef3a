package zorder

import (
	"math/rand/v2"
	"slices"
	"sync"
)

// rangeBits says into how many ranges the values of a column are divided.
const rangeBits = 10

// sampleRows is how many rows' values the ranges are told from: 32 for each.
const sampleRows = 32 << rangeBits

// sample is some rows' values of columns, in the form of appendOrdered, each row of all as likely as the others (Vitter's algorithm
// R). Safe for concurrent use.
type sample struct {
	mu     sync.Mutex
	random *rand.Rand
	seen   int64
	values [][]string // by column
}

func newSample(columns int) *sample {
	return &sample{random: rand.New(rand.NewPCG(1, 1)), values: make([][]string, columns)}
}

// add takes some of so many more rows.
func (s *sample) add(rows int, fields []field) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b []byte
	for row := range rows {
		s.seen++
		at := int64(len(s.values[0]))
		if at == sampleRows {
			if at = s.random.Int64N(s.seen); at >= sampleRows {
				continue
			}
		}
		for i := range fields {
			b = fields[i].appendOrdered(b[:0], row)
			if at == int64(len(s.values[i])) {
				s.values[i] = append(s.values[i], string(b))
			} else {
				s.values[i][at] = string(b)
			}
		}
	}
}

// bounds are the limits between the ranges of each column. The sample is of no more use.
func (s *sample) bounds() []bounds {
	all := make([]bounds, len(s.values))
	for i, values := range s.values {
		all[i] = quantiles(values, 1<<rangeBits)
	}
	return all
}

// bounds are the first values of all ranges but the first, ascending. A value that many rows have may be in it several times.
type bounds []string

// quantiles divides values, which it sorts, into so many ranges that have as many of them each.
func quantiles(values []string, ranges int) bounds {
	slices.Sort(values)
	b := make(bounds, 0, ranges-1)
	for i := 1; i < ranges && len(values) > 0; i++ {
		b = append(b, values[i*len(values)/ranges])
	}
	return b
}

// rank is the number of a value's range. A value that fills several ranges is in the first of them, and the others stay empty: so ranks are
// spread over all there are, however often values repeat.
func (b bounds) rank(value []byte) uint32 {
	low, high := 0, len(b)
	for low < high {
		middle := (low + high) / 2
		if b[middle] < string(value) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return uint32(low)
}
