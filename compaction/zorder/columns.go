package zorder

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/table"
)

// mostColumns is how many columns a curve goes through: with more of them no file has few values of any.
const mostColumns = 8

// Columns are what rows are ordered by: columns of a table, and fields of structs.
type Columns struct {
	names []string
	paths [][]string // from the table's column down
}

// NewColumns finds columns by their dotted names. It refuses those that cannot order the rows of a file, and those that have no statistics,
// since no reader would skip a file by them, with a *table.ArgumentError.
func NewColumns(s *table.Snapshot, names []string) (*Columns, error) {
	switch {
	case len(names) == 0:
		return nil, &table.ArgumentError{Err: errors.New("no columns to order rows by")}
	case len(names) > mostColumns:
		return nil, &table.ArgumentError{Err: fmt.Errorf("%d columns to order rows by; with more than %d, files are narrow in none of them", len(names), mostColumns)}
	}
	stored := &schema.Type{Kind: schema.Struct}
	for _, f := range s.Schema().Fields {
		if !slices.Contains(s.PartitionColumns(), f.Name) {
			stored.Fields = append(stored.Fields, f)
		}
	}
	withStats, err := s.StatsColumns()
	if err != nil {
		return nil, err
	}
	c := &Columns{names: names}
	for i, name := range names {
		path, kind := stored.Find(name)
		_, counted := withStats[name]
		var problem string
		switch {
		case slices.Contains(names[:i], name):
			problem = "it is named twice"
		case slices.Contains(s.PartitionColumns(), name):
			problem = "the table is partitioned by it, and all rows of a partition have the same value"
		case kind == nil:
			problem = fmt.Sprintf("the table has no such column; it has %s", s.Schema())
		case kind.Nested() || kind.Kind == schema.Void:
			problem = fmt.Sprintf("values of type %s have no order", kind)
		case !counted:
			problem = "files have no statistics of it, and would not be skipped; add it to delta.dataSkippingStatsColumns, or name another"
		}
		if problem != "" {
			return nil, &table.ArgumentError{Err: fmt.Errorf("order rows by column %s: %s", name, problem)}
		}
		c.paths = append(c.paths, path)
	}
	return c, nil
}

// Names are those that were given.
func (c *Columns) Names() []string { return slices.Clone(c.names) }

// tops are the names of the table's columns, once each.
func (c *Columns) tops() []string {
	var tops []string
	for _, path := range c.paths {
		if !slices.Contains(tops, path[0]) {
			tops = append(tops, path[0])
		}
	}
	return tops
}

// in finds the columns of a record, each below the structs around it.
func (c *Columns) in(record arrow.Record) []field {
	fields := make([]field, len(c.paths))
	for i, path := range c.paths {
		f := field{values: record.Column(record.Schema().FieldIndices(path[0])[0])}
		for _, name := range path[1:] {
			s := f.values.(*array.Struct)
			at, _ := s.DataType().(*arrow.StructType).FieldIdx(name)
			f.around = append(f.around, s)
			f.values = s.Field(at)
		}
		f.places = placesOf(f.values)
		fields[i] = f
	}
	return fields
}

// field is a column of a record, and the structs that it is in.
type field struct {
	values arrow.Array
	places places
	around []arrow.Array
}

// place is that of a row's value.
func (f *field) place(row int) place {
	if f.values.IsNull(row) || slices.ContainsFunc(f.around, func(s arrow.Array) bool { return s.IsNull(row) }) {
		return place{null: true}
	}
	return f.places.at(row)
}

// eachNull calls fn for each row without a value, for some more than once.
func (f *field) eachNull(fn func(row int)) {
	for _, a := range append(f.around, f.values) {
		if a.NullN() == 0 {
			continue
		}
		for row := range a.Len() {
			if a.IsNull(row) {
				fn(row)
			}
		}
	}
}
