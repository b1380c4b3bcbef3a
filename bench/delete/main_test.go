package main

import (
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/table"
)

func TestEveryFourthRowOfEachFileIsDeleted(t *testing.T) {
	path := t.TempDir()
	written := table.New(local.New(path), table.Options{})
	columns := schema.StructOf(schema.Field{Name: "n", Type: schema.Of(schema.Long)})
	for batch := range int64(2) {
		a, err := written.Begin(t.Context(), &table.Create{Schema: columns})
		if err != nil {
			t.Fatal(err)
		}
		b := array.NewRecordBuilder(memory.DefaultAllocator, columns.ArrowSchema())
		for i := range int64(6) {
			b.Field(0).(*array.Int64Builder).Append(10*batch + i)
		}
		if err := a.Write(t.Context(), b.NewRecord()); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Commit(t.Context(), table.Batch{ID: batch}); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(t.Context(), []string{path, "4"}); err != nil {
		t.Fatal(err)
	}
	s, err := table.New(local.New(path), table.Options{}).Snapshot(t.Context(), table.Newest)
	if err != nil {
		t.Fatal(err)
	}
	var got []int64
	err = s.Scan(t.Context(), table.ScanOptions{}, func(r arrow.Record) error {
		got = append(got, r.Column(0).(*array.Int64).Int64Values()...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []int64{1, 2, 3, 5, 11, 12, 13, 15}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
