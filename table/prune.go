package table

import (
	"math"
	"slices"
	"strings"
	"sync"
)

// excludes says whether the file can be seen to hold no row that fulfils the predicate; nil excludes none.
func (p *Predicate) excludes(f *File) bool { return p.ofFile(f)&isTrue == 0 }

// ofFile are the truths that the predicate may have for rows of the file, by its partition values and statistics.
func (p *Predicate) ofFile(f *File) truths {
	if p == nil {
		return isTrue
	}
	stats := sync.OnceValue(f.Stats)
	return p.combine(func(p *Predicate) truths {
		if len(p.Column) == 1 {
			if v, constant := f.Partition[p.Column[0]]; constant {
				return p.holds(v)
			}
		}
		if slices.ContainsFunc(p.Column, func(name string) bool { return strings.Contains(name, ".") }) || stats() == nil {
			return anyTruth
		}
		return p.ofStats(stats(), strings.Join(p.Column, "."))
	})
}

// ofStats are the truths that a predicate without operands may have for rows with such statistics. Of a file with a deletion
// vector they are those of before ("Per-file Statistics", tightBounds): bounds are still bounds, and where no row was null none is.
func (p *Predicate) ofStats(s *FileStats, column string) truths {
	nulls, counted := s.Nulls[column]
	noNull := counted && nulls == 0
	allNull := counted && s.Tight && nulls == s.Rows
	var t truths
	if !noNull {
		t |= p.holds(nil)
	}
	if allNull {
		return t
	}
	low, high := s.Min[column], s.Max[column]
	switch p.Op {
	case IsNull:
		return t | isFalse
	case In:
		in := isFalse
		for _, literal := range p.Values {
			in = in.or(between(Equal, low, high, literal))
		}
		return t | in
	default:
		return t | between(p.Op, low, high, p.Values[0])
	}
}

// between are the truths that a comparison may have for values from low to high, nil where there is no such bound. Bounds are not
// taken for values, since writers cut them outwards. NaN may be there whatever the upper bound is: many writers leave it out.
func between(op Op, low, high, literal Value) truths {
	switch {
	case literal == nil:
		return isUnknown
	case op == Less:
		return between(GreaterOrEqual, low, high, literal).not()
	case op == LessOrEqual:
		return between(Greater, low, high, literal).not()
	}
	t := isFalse | isTrue
	above := func(order int) bool { return low != nil && compareValues(low, literal) > order }
	below := func(order int) bool { return high != nil && compareValues(high, literal) < order }
	switch op {
	case Equal:
		if above(0) || below(0) {
			t = isFalse
		}
	case Greater:
		if above(0) {
			t = isTrue
		} else if below(1) {
			t = isFalse
		}
	default:
		if above(-1) {
			t = isTrue
		} else if below(0) {
			t = isFalse
		}
	}
	if _, float := literal.(float64); float {
		t |= compare(op, math.NaN(), literal)
	}
	return t
}
