package parquetfile

import (
	"github.com/parquet-go/parquet-go/format"
)

// ColumnIndex reads what the file says of the pages of a column chunk (parquet.thrift, ColumnIndex), but for histograms and order; nil if it has none.
// There are bounds, and counts of nulls if there are any, for as many pages as it tells of.
func (f *File) ColumnIndex(group, column int) (*format.ColumnIndex, error) {
	c := &f.Metadata().RowGroups[group].Columns[column]
	if c.ColumnIndexOffset == 0 {
		return nil, nil
	}
	start, n, err := chunkRange(c.ColumnIndexOffset, 0, int64(c.ColumnIndexLength), f.Size())
	if err != nil {
		return nil, err
	}
	b := make([]byte, n)
	if err := readAt(f.object, b, start); err != nil {
		return nil, err
	}
	index, ok := readColumnIndex(b)
	if !ok {
		return nil, ErrDamaged
	}
	return index, nil
}

func readColumnIndex(b []byte) (x *format.ColumnIndex, ok bool) {
	r := &compactReader{rest: b}
	x = &format.ColumnIndex{}
	r.structure(compactStruct, func(id int, t byte) {
		switch id {
		case 1: // null_pages
			r.list(t, func(t byte) { x.NullPages = append(x.NullPages, r.truthItem(t)) })
		case 2: // min_values
			r.list(t, func(t byte) { x.MinValues = append(x.MinValues, r.binary(t)) })
		case 3: // max_values
			r.list(t, func(t byte) { x.MaxValues = append(x.MaxValues, r.binary(t)) })
		case 5: // null_counts
			r.list(t, func(t byte) { x.NullCounts = append(x.NullCounts, r.long(t)) })
		default:
			r.skip(t)
		}
	})
	n := len(x.NullPages)
	return x, !r.bad && len(x.MinValues) == n && len(x.MaxValues) == n && (len(x.NullCounts) == 0 || len(x.NullCounts) == n)
}
