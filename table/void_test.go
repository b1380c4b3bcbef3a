package table

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/schema"
)

// addVoid adds void columns to a table as another engine would.
func addVoid(t *testing.T, tbl *Table, fields ...schema.Field) {
	t.Helper()
	alter(t, tbl, func(_ *commitlog.Metadata, s *schema.Type) { s.Fields = append(fields, s.Fields...) })
}

func TestVoidColumnsAreNullAndInNoFile(t *testing.T) {
	s := parseSchema(t, "id:long")
	void := schema.Field{Name: "v", Type: schema.Of(schema.Void), Nullable: true}
	nested := schema.Field{Name: "s", Type: schema.StructOf(void, schema.Field{Name: "x", Type: schema.Of(schema.Long), Nullable: true}), Nullable: true}
	store := newMemStore()
	tbl := New(store, Options{AppID: "test"})
	appendRecords(t, tbl, &Create{Schema: s}, 0, record(t, s, `[{"id":1}]`))
	addVoid(t, tbl, void, nested)
	wide := parseSchema(t, "s:struct<x:long>,id:long")
	appendRecords(t, tbl, nil, 1, record(t, wide, `[{"id":2,"s":{"x":5}}]`))
	for range 2 {
		if diff := cmp.Diff([]string{"v=null s=null id=1 ", "v=null s=(null;5;) id=2 "}, scanRows(t, tbl, ScanOptions{})); diff != "" {
			t.Error(diff)
		}
		rewriteAll(t, tbl)
	}
	snap, err := tbl.Snapshot(t.Context(), Newest)
	if err != nil {
		t.Fatal(err)
	}
	where, err := snap.Where("s.v IS NULL AND v IS NULL")
	if err != nil {
		t.Fatal(err)
	}
	if rows := snapshotRows(t, snap, ScanOptions{Where: where}); len(rows) != 2 {
		t.Errorf("got %v", rows)
	}
	for _, key := range store.dataKeys() {
		file, err := parquet.OpenFile(bytes.NewReader(store.objects[key]), int64(len(store.objects[key])))
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(file.Schema().Columns(), func(path []string) bool { return slices.Contains(path, "v") }) {
			t.Errorf("%s has columns %v", key, file.Schema().Columns())
		}
	}
}

func TestVoidThatNoFileCanDoWithoutIsRefusedForWriting(t *testing.T) {
	for _, typ := range []*schema.Type{
		schema.ArrayOf(schema.Of(schema.Void)),
		schema.StructOf(schema.Field{Name: "v", Type: schema.Of(schema.Void), Nullable: true}),
	} {
		s := parseSchema(t, "id:long")
		tbl := newTestTable(t, Options{})
		appendRecords(t, tbl, &Create{Schema: s}, 0, record(t, s, `[{"id":1}]`))
		addVoid(t, tbl, schema.Field{Name: "c", Type: typ, Nullable: true})
		if diff := cmp.Diff([]string{"c=null id=1 "}, scanRows(t, tbl, ScanOptions{})); diff != "" {
			t.Errorf("%s: %s", typ, diff)
		}
		if _, err := tbl.Begin(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "column c") {
			t.Errorf("%s: got %v", typ, err)
		}
	}
}
