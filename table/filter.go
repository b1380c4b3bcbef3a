package table

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/sluicedata/sluice/schema"
)

// filter hands out the rows that fulfil a predicate, without the columns that only the predicate is about.
type filter struct {
	where  *Predicate
	schema *schema.Type // of what it is given: the columns wanted, then the predicate's others
	wanted *arrow.Schema
}

// rows hands the rows of a record that fulfil the predicate to fn, a record for each run of them.
func (f *filter) rows(r arrow.Record, fn func(arrow.Record) error) error {
	shown := array.NewRecord(f.wanted, r.Columns()[:f.wanted.NumFields()], r.NumRows())
	defer shown.Release()
	for from := int64(0); from < r.NumRows(); {
		to := from
		for to < r.NumRows() && f.holds(r, int(to)) {
			to++
		}
		if to > from {
			if err := handSlice(shown, from, to, fn); err != nil {
				return err
			}
		}
		from = to + 1
	}
	return nil
}

func handSlice(r arrow.Record, from, to int64, fn func(arrow.Record) error) error {
	if to-from == r.NumRows() {
		return fn(r)
	}
	s := r.NewSlice(from, to)
	defer s.Release()
	return fn(s)
}

func (f *filter) holds(r arrow.Record, row int) bool {
	return f.where.combine(func(p *Predicate) truths { return p.holds(cellAt(f.schema, r, row, p.Column)) }) == isTrue
}

// cellAt is the value of a column, or of a field of a struct below it. What is below a null is null.
func cellAt(t *schema.Type, r arrow.Record, row int, path []string) Value {
	at := t.Index(path[0])
	a, t := r.Column(at), t.Fields[at].Type
	for _, name := range path[1:] {
		if a.IsNull(row) {
			return nil
		}
		at = t.Index(name)
		a, t = a.(*array.Struct).Field(at), t.Fields[at].Type
	}
	return valueAt(a, row, t.Scale)
}
