package model

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/table"
)

// rows are those of a version: their texts, by id. They do not change once a version has them.
type rows map[int64]string

func (r rows) with(more rows) rows {
	both := maps.Clone(r)
	maps.Copy(both, more)
	return both
}

func (r rows) without(ids map[int64]bool) rows {
	left := maps.Clone(r)
	maps.DeleteFunc(left, func(id int64, _ string) bool { return ids[id] })
	return left
}

// between are the rows with ids of [from, to).
func (r rows) between(from, to int64) rows {
	some := maps.Clone(r)
	maps.DeleteFunc(some, func(id int64, _ string) bool { return id < from || id >= to })
	return some
}

// differs says how the rows read differ from those wanted; empty for not at all.
func (r rows) differs(got rows) string {
	var faults []string
	for _, id := range slices.Sorted(maps.Keys(r.with(got))) {
		if r[id] != got[id] {
			faults = append(faults, fmt.Sprintf("row %d is %q instead of %q", id, got[id], r[id]))
		}
	}
	if len(faults) > 5 {
		faults = append(faults[:5], fmt.Sprintf("and %d more", len(faults)-5))
	}
	return strings.Join(faults, "\n")
}

// rowsOf takes a record apart, rows in their order. A row's text leaves nulls out, so that a column that is added changes none.
func rowsOf(record arrow.Record, each func(id int64, text string)) {
	s := record.Schema()
	ids := record.Column(s.FieldIndices("id")[0]).(*array.Int64)
	for i := range int(record.NumRows()) {
		var values []string
		for at, column := range record.Columns() {
			if !column.IsNull(i) {
				values = append(values, s.Field(at).Name+"="+column.ValueStr(i))
			}
		}
		slices.Sort(values)
		each(ids.Value(i), strings.Join(values, " "))
	}
}

// scan reads rows; it fails if there are two of an id.
func scan(ctx context.Context, s *table.Snapshot, options table.ScanOptions) (rows, error) {
	got := rows{}
	err := s.Scan(ctx, options, func(record arrow.Record) (err error) {
		rowsOf(record, func(id int64, text string) {
			if _, twice := got[id]; twice {
				err = fmt.Errorf("row %d is there twice", id)
			}
			got[id] = text
		})
		return err
	})
	return got, err
}

// makeRows makes up n rows of a schema, with ids from the given one on.
func makeRows(random *rand.Rand, t *schema.Type, id int64, n int) (arrow.Record, rows, error) {
	var lines []string
	for i := range n {
		line := fmt.Sprintf(`"id":%d`, id+int64(i))
		for _, f := range t.Fields[1:] {
			if random.IntN(5) > 0 {
				line += fmt.Sprintf(`,%q:%s`, f.Name, makeValue(random, &f))
			}
		}
		lines = append(lines, "{"+line+"}")
	}
	record, _, err := array.RecordFromJSON(memory.DefaultAllocator, t.ArrowSchema(), strings.NewReader("["+strings.Join(lines, ",")+"]"))
	if err != nil {
		return nil, nil, err
	}
	made := rows{}
	rowsOf(record, func(id int64, text string) { made[id] = text })
	return record, made, nil
}

func makeValue(random *rand.Rand, f *schema.Field) string {
	switch {
	case f.Name == "day":
		return fmt.Sprintf(`"2026-11-%02d"`, 1+random.IntN(3))
	case f.Type.Kind == schema.Decimal:
		return fmt.Sprintf(`"%d.%02d"`, random.IntN(2000)-1000, random.IntN(100))
	case f.Type.Kind == schema.String:
		return fmt.Sprintf(`"note %d"`, random.IntN(20))
	default:
		return fmt.Sprint(random.IntN(1000))
	}
}
