package zorder

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
)

// rangeBits says into how many ranges the values of a column are divided.
const rangeBits = 10

// sampleRows is how many rows' values the ranges are told from: 32 for each.
const sampleRows = 32 << rangeBits

// sample is some rows' values of columns, each row of all as likely as the others (Vitter's algorithm R). Safe for
// concurrent use.
type sample struct {
	mu     sync.Mutex
	random *rand.Rand
	seen   int64
	values [][]place // by column
}

func newSample(columns int) *sample {
	return &sample{random: rand.New(rand.NewPCG(1, 1)), values: make([][]place, columns)}
}

// add takes some of so many more rows.
func (s *sample) add(rows int, fields []field) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for row := range rows {
		s.seen++
		at := int64(len(s.values[0]))
		if at == sampleRows {
			if at = s.random.Int64N(s.seen); at >= sampleRows {
				continue
			}
		}
		for i := range fields {
			if at == int64(len(s.values[i])) {
				s.values[i] = append(s.values[i], fields[i].place(row))
			} else {
				s.values[i][at] = fields[i].place(row)
			}
		}
	}
}

// curve is one through ranges of the columns that have as many of the values each.
func (s *sample) curve() *curve {
	all := make([]bounds, len(s.values))
	for i, values := range s.values {
		all[i] = quantiles(values, 1<<rangeBits)
	}
	return newCurve(all)
}

// limits divide the keys of a curve into so many ranges that have as many rows each.
func (s *sample) limits(c *curve, ranges int) []uint64 {
	keys := make([]uint64, len(s.values[0]))
	x := make([]uint32, len(s.values))
	for row := range keys {
		for i := range x {
			x[i] = c.bounds[i].rank(s.values[i][row])
		}
		keys[row] = c.key(x)
	}
	slices.Sort(keys)
	return every(keys, ranges)
}

// every are the values of a list that divide it into so many ranges of the same length.
func every[T any](sorted []T, ranges int) []T {
	limits := make([]T, 0, ranges-1)
	for i := 1; i < ranges && len(sorted) > 0; i++ {
		limits = append(limits, sorted[i*len(sorted)/ranges])
	}
	return limits
}

// bounds are the first values of all ranges but the first, ascending: nulls, then others. A value that many rows have may be among them several times.
type bounds struct {
	nulls   int
	numbers []uint64 // of the others
	texts   []string // that tell apart those with the same number
}

// quantiles divides values into so many ranges that have as many of them each.
func quantiles(values []place, ranges int) bounds {
	var b bounds
	for _, p := range every(slices.SortedFunc(slices.Values(values), place.compare), ranges) {
		if p.null {
			b.nulls++
			continue
		}
		b.numbers, b.texts = append(b.numbers, p.number), append(b.texts, p.text)
	}
	return b
}

// rank is the number of a value's range. A value that fills several ranges is in the first of them, and the others stay empty: so ranks are
// spread over all there are, however often values repeat.
func (b *bounds) rank(p place) uint32 {
	if p.null {
		return 0
	}
	return b.rankOf(p.number, func() string { return p.text })
}

func (b *bounds) rankOf(number uint64, text func() string) uint32 {
	at := 0
	if number > 0 {
		at = countUpTo(b.numbers, number-1)
	}
	if at < len(b.numbers) && b.numbers[at] == number {
		same := b.texts[at:countUpTo(b.numbers, number)]
		more, _ := slices.BinarySearchFunc(same, text(), strings.Compare)
		at += more
	}
	return uint32(b.nulls + at)
}

// ranks are those of a column's rows.
func (b *bounds) ranks(f *field, rows int) []uint32 {
	p := &f.places
	ranks := make([]uint32, len(p.numbers))
	for i, number := range p.numbers {
		ranks[i] = b.rankOf(number, func() string { return p.textAt(i) })
	}
	if p.indexes != nil {
		of := ranks
		ranks = make([]uint32, rows)
		for row, i := range p.indexes {
			if len(of) > 0 { // else all are null
				ranks[row] = of[i]
			}
		}
	}
	f.eachNull(func(row int) { ranks[row] = 0 })
	return ranks
}
