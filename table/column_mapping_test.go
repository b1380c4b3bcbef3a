package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/schema"
)

// appendRecords commits records as one batch.
func appendRecords(t testing.TB, tbl *Table, create *Create, batch int64, records ...arrow.Record) {
	t.Helper()
	a, err := tbl.Begin(t.Context(), create)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := a.Write(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.Commit(t.Context(), Batch{ID: batch}); err != nil {
		t.Fatal(err)
	}
}

// TestColumnMappingLeavesRowsAsTheyAre compares tables whose columns are known by name, by physical name and by id, appended to
// and rewritten.
func TestColumnMappingLeavesRowsAsTheyAre(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 5))
		s := randomStruct(r, 2+r.IntN(5), 3)
		records := []arrow.Record{randomRecord(r, s, 700), randomRecord(r, s, 300)}
		var want, wantStats []string
		for _, mode := range []string{"none", "name", "id"} {
			tbl := newTestTable(t, Options{})
			for batch, rec := range records {
				appendRecords(t, tbl, &Create{Schema: s, Properties: map[string]string{mappingProperty: mode}}, int64(batch), rec)
			}
			got, stats := scanRows(t, tbl, ScanOptions{}), statsOf(t, tbl)
			if mode == "none" {
				want, wantStats = got, stats
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, mode %s, schema %s:\n%.2000s", seed, mode, s, diff)
			}
			if diff := cmp.Diff(wantStats, stats); diff != "" {
				t.Fatalf("seed %d, mode %s: statistics\n%.2000s", seed, mode, diff)
			}
			rewriteAll(t, tbl)
			if diff := cmp.Diff(want, scanRows(t, tbl, ScanOptions{})); diff != "" {
				t.Fatalf("seed %d, mode %s, rewritten:\n%.2000s", seed, mode, diff)
			}
		}
	}
}

// statsOf are the statistics of the newest version's files, by logical names.
func statsOf(t testing.TB, tbl *Table) []string {
	t.Helper()
	snap, err := tbl.Snapshot(t.Context(), Newest)
	if err != nil {
		t.Fatal(err)
	}
	var stats []string
	for _, f := range filesOf(t, snap) {
		stats = append(stats, fmt.Sprintf("%+v", f.Stats()))
	}
	return stats
}

// mappedTable has one row in each of two partitions.
func mappedTable(t *testing.T, mode string) (*memStore, *Table, *schema.Type) {
	t.Helper()
	s := parseSchema(t, "`a b`:long,st:struct<x:string,y:array<struct<z:int>>>,day:string")
	store := newMemStore()
	tbl := New(store, Options{AppID: "test"})
	create := &Create{Schema: s, PartitionColumns: []string{"day"}, Properties: map[string]string{mappingProperty: mode}}
	appendRecords(t, tbl, create, 0, record(t, s, `[{"a b":1,"st":{"x":"u","y":[{"z":5}]},"day":"mon"},{"a b":2,"day":"tue"}]`))
	return store, tbl, s
}

func TestFilesOfMappedTablesHavePhysicalNamesAndIDs(t *testing.T) {
	for _, mode := range []string{"name", "id"} {
		store, tbl, _ := mappedTable(t, mode)
		snap, err := tbl.Snapshot(t.Context(), Newest)
		if err != nil {
			t.Fatal(err)
		}
		if got := snap.Properties()[maxColumnIDProperty]; got != "6" {
			t.Errorf("%s is %s", maxColumnIDProperty, got)
		}
		if p := snap.State().Protocol; !slices.Equal(p.ReaderFeatures, []string{"columnMapping"}) || !slices.Contains(p.WriterFeatures, "columnMapping") {
			t.Errorf("protocol %+v", p)
		}
		for _, f := range filesOf(t, snap) {
			for _, name := range []string{"a b", "day", "mon", "tue"} {
				if strings.Contains(f.Path, name) || strings.Contains(f.add.Stats, `"`+name+`"`) {
					t.Errorf("%s is in the path %s or the statistics %s", name, f.Path, f.add.Stats)
				}
			}
			file, err := parquet.OpenFile(bytes.NewReader(store.objects[f.Path]), int64(len(store.objects[f.Path])))
			if err != nil {
				t.Fatal(err)
			}
			checkPhysical(t, snap.Schema().Fields[:2], file.Root().Columns())
		}
	}
}

func checkPhysical(t *testing.T, fields []schema.Field, columns []*parquet.Column) {
	t.Helper()
	if len(fields) != len(columns) {
		t.Fatalf("%d columns for %d fields", len(columns), len(fields))
	}
	for i, f := range fields {
		c := columns[i]
		if c.Name() != f.Stored.Name || !strings.HasPrefix(c.Name(), "col-") || c.ID() != f.Stored.ID || c.ID() == 0 {
			t.Errorf("field %s is column %s with the id %d, want %+v", f.Name, c.Name(), c.ID(), f.Stored)
		}
		switch f.Type.Kind {
		case schema.Struct:
			checkPhysical(t, f.Type.Fields, c.Columns())
		case schema.Array:
			checkPhysical(t, f.Type.Elem.Fields, c.Columns()[0].Columns()[0].Columns())
		}
	}
}

// alter commits a schema and partition columns as another engine would.
func alter(t testing.TB, tbl *Table, change func(m *commitlog.Metadata, s *schema.Type)) {
	t.Helper()
	head, err := tbl.Log().Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m := head.Metadata
	m.PartitionColumns = slices.Clone(m.PartitionColumns)
	s, err := m.Schema()
	if err != nil {
		t.Fatal(err)
	}
	change(&m, s)
	m.SchemaString = s.JSON()
	tx := commitlog.Transaction{ReadVersion: head.Version}
	tx.Actions.Metadata, tx.Actions.Info = &m, &commitlog.CommitInfo{Operation: "RENAME COLUMN"}
	if _, err := tbl.Log().Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
}

func TestRenamedColumnsKeepTheirRowsStatisticsAndPartitions(t *testing.T) {
	for _, mode := range []string{"name", "id"} {
		_, tbl, _ := mappedTable(t, mode)
		alter(t, tbl, func(m *commitlog.Metadata, s *schema.Type) {
			s.Fields[0].Name, s.Fields[1].Type.Fields[0].Name, s.Fields[2].Name = "n", "X", "date"
			m.PartitionColumns = []string{"date"}
		})
		rows := []string{`n=1 st=("u";[(5;);];) date="mon" `, `n=2 st=null date="tue" `}
		if diff := cmp.Diff(rows, scanRows(t, tbl, ScanOptions{})); diff != "" {
			t.Errorf("mode %s: %s", mode, diff)
		}
		snap, err := tbl.Snapshot(t.Context(), Newest)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"n = 2", "date = 'tue'", "st.X IS NULL"} {
			if files := filesWhere(t, snap, text); len(files) != 1 || *files[0].Values["date"] != "tue" {
				t.Errorf("mode %s, %s: %v", mode, text, files)
			}
		}
		renamed := record(t, snap.Schema(), `[{"n":3,"st":{"X":"v"},"date":"tue"}]`)
		appendRecords(t, tbl, nil, 1, renamed)
		rows = append(rows, `n=3 st=("v";null;) date="tue" `)
		if diff := cmp.Diff(rows, scanRows(t, tbl, ScanOptions{})); diff != "" {
			t.Errorf("mode %s: %s", mode, diff)
		}
		if snap, err = tbl.Snapshot(t.Context(), Newest); err != nil {
			t.Fatal(err)
		}
		tuesdays := filesWhere(t, snap, "date = 'tue'")
		if len(tuesdays) != 2 || snap.PartitionOf(&tuesdays[0]) != "date=tue" {
			t.Fatal(tuesdays)
		}
		if _, err := rewriteOf(t, snap, tuesdays).Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(rows, scanRows(t, tbl, ScanOptions{})); diff != "" {
			t.Errorf("mode %s, rewritten: %s", mode, diff)
		}
	}
}

func filesWhere(t *testing.T, snap *Snapshot, text string) []File {
	t.Helper()
	where, err := snap.Where(text)
	if err != nil {
		t.Fatal(err)
	}
	files, err := snap.FilesWhere(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestAppendsFollowColumnsThroughConcurrentChanges has another engine change the schema between a batch's first row and its
// commit: what is in files goes by physical names.
func TestAppendsFollowColumnsThroughConcurrentChanges(t *testing.T) {
	anew := func(f *schema.Field) {
		f.Metadata = map[string]json.RawMessage{
			"delta.columnMapping.id": json.RawMessage("7"), "delta.columnMapping.physicalName": json.RawMessage(`"col-new"`),
		}
	}
	for name, tc := range map[string]struct {
		change func(m *commitlog.Metadata, s *schema.Type)
		fails  bool
		want   string
	}{
		"renamed":                {func(_ *commitlog.Metadata, s *schema.Type) { s.Fields[0].Name = "n" }, false, `n=3 st=null day="tue" `},
		"dropped and made again": {func(_ *commitlog.Metadata, s *schema.Type) { anew(&s.Fields[0]) }, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			store, tbl, s := mappedTable(t, "name")
			a, err := tbl.Begin(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := a.Write(t.Context(), record(t, s, `[{"a b":3,"day":"tue"}]`)); err != nil {
				t.Fatal(err)
			}
			alter(t, New(store, Options{}), tc.change)
			_, err = a.Commit(t.Context(), Batch{ID: 1})
			if tc.fails {
				if !errors.As(err, new(*SchemaError)) || !strings.Contains(err.Error(), "column a b of the table is another one") {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if rows := scanRows(t, tbl, ScanOptions{}); !slices.Contains(rows, tc.want) {
				t.Errorf("got %v", rows)
			}
		})
	}
}

func TestFilesAreSearchedByIDWhateverTheirNames(t *testing.T) {
	typ := &schema.Type{Kind: schema.Struct, Fields: []schema.Field{
		{Name: "c", Type: schema.Of(schema.Long), Nullable: true, Stored: schema.Stored{Name: "col-1", ID: 4, ByID: true}},
		{Name: "d", Type: schema.Of(schema.Long), Nullable: true, Stored: schema.Stored{Name: "x", ID: 5, ByID: true}},
	}}
	rows := [][]parquet.Value{{one(parquet.Int64Value(11), 0, 0, 0)}}
	got, err := foreignFile(t, parquet.Group{"x": parquet.FieldID(parquet.Leaf(parquet.Int64Type), 4)}, rows, typ)
	if err != nil || !slices.Equal(got, []string{"c=11 d=null "}) {
		t.Errorf("got %v %v", got, err)
	}
	got, err = foreignFile(t, parquet.Group{"x": parquet.Leaf(parquet.Int64Type)}, rows, typ)
	if err == nil || !strings.Contains(err.Error(), "by field ids, and the file has none") {
		t.Errorf("got %v %v", got, err)
	}
}

// TestPagesAreNotTakenOverFromColumnsOfOtherIDs rewrites a file whose columns have each other's names, as after a conversion
// from Iceberg.
func TestPagesAreNotTakenOverFromColumnsOfOtherIDs(t *testing.T) {
	s := parseSchema(t, "c:long,d:long")
	store := newMemStore()
	tbl := New(store, Options{AppID: "test"})
	appendRecords(t, tbl, &Create{Schema: s, Properties: map[string]string{mappingProperty: "id"}}, 0, record(t, s, `[{"c":1,"d":2}]`))
	alter(t, tbl, func(_ *commitlog.Metadata, s *schema.Type) {
		c, d := s.Fields[0].Metadata, s.Fields[1].Metadata
		const name = "delta.columnMapping.physicalName"
		c[name], d[name] = d[name], c[name]
	})
	for range 2 {
		if got := fmt.Sprint(scanRows(t, tbl, ScanOptions{})); got != "[c=1 d=2 ]" {
			t.Errorf("got %s", got)
		}
		rewriteAll(t, tbl)
	}
}

func TestColumnMappingOfANewTableIsChecked(t *testing.T) {
	s := parseSchema(t, "`a b`:long")
	for _, tc := range []struct {
		properties map[string]string
		want       string
	}{
		{map[string]string{}, "Delta does not allow"},
		{map[string]string{mappingProperty: "names"}, "is not a value of delta.columnMapping.mode"},
		{map[string]string{mappingProperty: "name", maxColumnIDProperty: "3"}, maxColumnIDProperty},
		{map[string]string{mappingProperty: "NAME"}, ""},
	} {
		err := (&Create{Schema: s, Properties: tc.properties}).Check()
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v: got %v, want %s", tc.properties, err, tc.want)
		}
	}
}
