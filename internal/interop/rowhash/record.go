package rowhash

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// Record counts in every row of an Arrow record. With columns given, a row is those columns alone. A column that is
// missing, or of a type that has no canonical text, is an error.
func (s *Sum) Record(rec arrow.Record, columns ...string) error {
	order, err := columnOrder(rec.Schema(), columns)
	if err != nil {
		return err
	}
	texts := make([]appender, len(order))
	for i, c := range order {
		if texts[i], err = appenderOf(rec.Column(c)); err != nil {
			return fmt.Errorf("hash column %s: %w", rec.ColumnName(c), err)
		}
	}
	var row []byte
	for i := range int(rec.NumRows()) {
		row = row[:0]
		for c, text := range texts {
			if c > 0 {
				row = append(row, Separator)
			}
			row = text(row, i)
		}
		s.Add(row)
	}
	return nil
}

// columnOrder lists the indices of the columns by name.
func columnOrder(schema *arrow.Schema, columns []string) ([]int, error) {
	if len(columns) == 0 {
		for _, f := range schema.Fields() {
			columns = append(columns, f.Name)
		}
	}
	order := make([]int, 0, len(columns))
	for _, name := range columns {
		at := schema.FieldIndices(name)
		if len(at) != 1 {
			return nil, fmt.Errorf("hash column %s: the record has %d columns of this name, not one", name, len(at))
		}
		order = append(order, at[0])
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(schema.Field(a).Name, schema.Field(b).Name) })
	return order, nil
}

// appender appends the text of an array's i-th value.
type appender func(b []byte, i int) []byte

func appenderOf(arr arrow.Array) (appender, error) {
	value, err := valueAppender(arr)
	if err != nil {
		return nil, err
	}
	return func(b []byte, i int) []byte {
		if arr.IsNull(i) {
			return AppendNull(b)
		}
		return value(b, i)
	}, nil
}

// valueAppender is for values known not to be null.
func valueAppender(arr arrow.Array) (appender, error) {
	switch a := arr.(type) {
	case *array.Null:
		return func(b []byte, _ int) []byte { return AppendNull(b) }, nil
	case *array.Boolean:
		return func(b []byte, i int) []byte { return AppendBool(b, a.Value(i)) }, nil
	case *array.String:
		return func(b []byte, i int) []byte { return AppendString(b, a.Value(i)) }, nil
	case *array.LargeString:
		return func(b []byte, i int) []byte { return AppendString(b, a.Value(i)) }, nil
	case *array.Binary:
		return func(b []byte, i int) []byte { return AppendString(b, a.Value(i)) }, nil
	case *array.LargeBinary:
		return func(b []byte, i int) []byte { return AppendString(b, a.Value(i)) }, nil
	case *array.FixedSizeBinary:
		return func(b []byte, i int) []byte { return AppendString(b, a.Value(i)) }, nil
	case *array.Struct:
		return structAppender(a)
	case *array.Map: // before List: a map is a list of entries
		return mapAppender(a)
	case array.ListLike:
		return listAppender(a)
	default:
		return numberAppender(arr)
	}
}

func structAppender(a *array.Struct) (appender, error) {
	fields := make([]appender, a.NumField())
	for i := range fields {
		var err error
		if fields[i], err = appenderOf(a.Field(i)); err != nil {
			return nil, err
		}
	}
	return func(b []byte, i int) []byte {
		b = append(b, '{')
		for f, field := range fields {
			if f > 0 {
				b = append(b, ',')
			}
			b = field(b, i)
		}
		return append(b, '}')
	}, nil
}

func listAppender(a array.ListLike) (appender, error) {
	elem, err := appenderOf(a.ListValues())
	if err != nil {
		return nil, err
	}
	return func(b []byte, i int) []byte {
		b = append(b, '[')
		from, to := a.ValueOffsets(i)
		for j := from; j < to; j++ {
			if j > from {
				b = append(b, ',')
			}
			b = elem(b, int(j))
		}
		return append(b, ']')
	}, nil
}

func mapAppender(a *array.Map) (appender, error) {
	key, err := appenderOf(a.Keys())
	if err != nil {
		return nil, err
	}
	item, err := appenderOf(a.Items())
	if err != nil {
		return nil, err
	}
	return func(b []byte, i int) []byte {
		var entries [][]byte
		from, to := a.ValueOffsets(i)
		for j := int(from); j < int(to); j++ {
			entries = append(entries, item(append(key(nil, j), '='), j))
		}
		slices.SortFunc(entries, bytes.Compare)
		b = append(b, '<')
		b = append(b, bytes.Join(entries, []byte{','})...)
		return append(b, '>')
	}, nil
}
