package table

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/storage"
)

func parseSchema(t testing.TB, ddl string) *schema.Type {
	t.Helper()
	s, err := schema.ParseDDL("struct<" + ddl + ">")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// record has rows in JSON.
func record(t testing.TB, s *schema.Type, rows string) arrow.Record {
	t.Helper()
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, s.ArrowSchema(), strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func TestFilesAreOutOfSightUntilTheCommit(t *testing.T) {
	store := newMemStore()
	tbl := New(store, Options{AppID: "app"})
	s := parseSchema(t, "id:long")
	a, err := tbl.Begin(t.Context(), &Create{Schema: s})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Write(t.Context(), record(t, s, `[{"id":1}]`)); err != nil {
		t.Fatal(err)
	}
	if len(store.objects) != 0 {
		t.Errorf("objects before the commit: %v", store.dataKeys())
	}
	if state, err := tbl.Refresh(t.Context()); err != nil || state != nil {
		t.Errorf("a table before the commit: %v %v", state, err)
	}
	done, err := a.Commit(t.Context(), Batch{ID: 7, UserMetadata: "note"})
	if err != nil {
		t.Fatal(err)
	}
	if done.Version != 0 || done.Files != 1 || done.Rows != 1 || done.Bytes != int64(len(store.objects[store.dataKeys()[0]])) {
		t.Errorf("committed %+v", done)
	}
	state, err := tbl.Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if app := state.App; app == nil || app.Batch != 7 || app.UserMetadata != "note" || app.Version != 0 || app.LastUpdated.IsZero() {
		t.Errorf("app %+v", app)
	}
	if len(store.unsettled) != 0 {
		t.Errorf("not settled: %v", store.unsettled)
	}
}

func TestAbortLeavesNothing(t *testing.T) {
	store := newMemStore()
	tbl := New(store, Options{AppID: "app", OpenFiles: 1, Memory: memoryOf(2)})
	s := parseSchema(t, "p:int,id:long")
	a, err := tbl.Begin(t.Context(), &Create{Schema: s, PartitionColumns: []string{"p"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Write(t.Context(), record(t, s, `[{"p":1,"id":1},{"p":2,"id":2}]`)); err != nil {
		t.Fatal(err)
	}
	if len(store.unsettled) != 2 {
		t.Fatalf("staged: %v", store.unsettled)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Abort(ctx); err != nil {
		t.Fatal(err)
	}
	if len(store.unsettled)+len(store.objects) != 0 {
		t.Errorf("left behind: %v %v", store.unsettled, store.objects)
	}
	if _, err := a.Commit(t.Context(), Batch{}); err == nil {
		t.Error("committed after the abort")
	}
}

func TestBatchWithoutRowsCommitsItsIDAlone(t *testing.T) {
	tbl := newTestTable(t, Options{})
	s := parseSchema(t, "id:long")
	appendAll(t, tbl, 0, &Create{Schema: s})
	done := appendAll(t, tbl, 1, &Create{Schema: s})
	if done.Version != 1 || done.Files != 0 {
		t.Errorf("committed %+v", done)
	}
	state, err := tbl.Refresh(t.Context())
	if err != nil || state.App.Batch != 1 {
		t.Errorf("state %+v: %v", state, err)
	}
}

func TestSecondProcessWithTheSameBatchIsFencedAndLeavesNothing(t *testing.T) {
	store := newMemStore()
	s := parseSchema(t, "id:long")
	one, two := New(store, Options{AppID: "app"}), New(store, Options{AppID: "app"})
	var appends []*Append
	for _, tbl := range []*Table{one, two} {
		a, err := tbl.Begin(t.Context(), &Create{Schema: s})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Write(t.Context(), record(t, s, `[{"id":1}]`)); err != nil {
			t.Fatal(err)
		}
		appends = append(appends, a)
	}
	if _, err := appends[0].Commit(t.Context(), Batch{ID: 0}); err != nil {
		t.Fatal(err)
	}
	_, err := appends[1].Commit(t.Context(), Batch{ID: 0})
	var fenced *commitlog.FencedError
	if !errors.As(err, &fenced) || fenced.Version != 0 {
		t.Fatalf("got %v", err)
	}
	if keys := store.dataKeys(); len(keys) != 1 || len(store.unsettled) != 0 {
		t.Errorf("files %v, unsettled %v", keys, store.unsettled)
	}
}

func TestLostRaceForTheTableGoesOnIfTheRowsFit(t *testing.T) {
	for name, tc := range map[string]struct {
		other, wantErr string
		partitions     []string
	}{
		"same":                    {"id:long,x:string", "", nil},
		"one column more":         {"id:long,x:string,y:date", "", nil},
		"another order":           {"x:string,id:long", "", nil},
		"another type":            {"id:int,x:string", "column id is long in the rows and int in the table", nil},
		"a column less":           {"id:long", "the table has no such column", nil},
		"one that is obligatory":  {"id:long,x:string,y:date NOT NULL", "missing in the rows", nil},
		"an obligatory one":       {"id:long NOT NULL,x:string", "NOT NULL in the table", nil},
		"partitioned differently": {"id:long,x:string", "is partitioned by", []string{"x"}},
	} {
		t.Run(name, func(t *testing.T) {
			store := newMemStore()
			mine, other := parseSchema(t, "id:long,x:string"), parseSchema(t, tc.other)
			a, err := New(store, Options{AppID: "mine"}).Begin(t.Context(), &Create{Schema: mine})
			if err != nil {
				t.Fatal(err)
			}
			if err := a.Write(t.Context(), record(t, mine, `[{"id":1,"x":"a"}]`)); err != nil {
				t.Fatal(err)
			}
			appendAll(t, New(store, Options{AppID: "other"}), 0, &Create{Schema: other, PartitionColumns: tc.partitions})
			done, err := a.Commit(t.Context(), Batch{ID: 0})
			if tc.wantErr == "" {
				if err != nil || done.Version != 1 {
					t.Fatalf("got %+v, %v", done, err)
				}
				if rows := scanRows(t, New(store, Options{}), ScanOptions{Columns: []string{"id", "x"}}); len(rows) != 1 || rows[0] != `id=1 x="a" ` {
					t.Errorf("rows %q", rows)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.wantErr) || len(store.dataKeys()) != 0 {
				t.Errorf("got %v, files %v", err, store.dataKeys())
			}
		})
	}
}

func TestRowsThatDoNotFitAreRefusedByColumn(t *testing.T) {
	table := parseSchema(t, "id:long NOT NULL,s:struct<a:int,b:string>,l:array<long>,d:decimal(10,2)")
	for rows, want := range map[string]string{
		"id:int":                             "column id is int in the rows and long in the table; write it as long",
		"s:struct<a:int>":                    "column id (long NOT NULL) of the table is missing in the rows; add it",
		"id:long,ID2:int":                    "column ID2 (int): the table has no such column",
		"Id:long,id:long":                    "",
		"id:long,S:struct<a:int>":            "column S: the table spells it s; rename yours",
		"id:long,s:struct<a:long>":           "column s.a is long in the rows and int in the table",
		"id:long,s:struct<c:int>":            "column s.c (int): the table has no such column",
		"id:long,l:array<int>":               "column l.element is int",
		"id:long,d:decimal(11,2)":            "column d is decimal(11,2) in the rows and decimal(10,2) in the table",
		"id:long,s:struct<b:string,a:int>":   "ok",
		"s:struct<b:string>,id:long":         "ok",
		"id:string,d:double,l:array<string>": "column d is double",
	} {
		if want == "" {
			continue // DDL itself refuses it
		}
		err := checkFits(parseSchema(t, rows), table, false)
		if want == "ok" {
			if err != nil {
				t.Errorf("%s: %v", rows, err)
			}
			continue
		}
		if !errors.As(err, new(*SchemaError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", rows, err, want)
		}
	}
}

func TestMissingColumnsAreNull(t *testing.T) {
	tbl := newTestTable(t, Options{})
	full := parseSchema(t, "id:long,p:int,s:struct<a:int,b:string>,l:array<long>")
	part := parseSchema(t, "s:struct<b:string>,id:long")
	create := &Create{Schema: full, PartitionColumns: []string{"p"}}
	appendAll(t, tbl, 0, create, record(t, full, `[{"id":1,"p":1,"s":{"a":1,"b":"x"},"l":[1]}]`))
	appendAll(t, tbl, 1, create, record(t, part, `[{"id":2,"s":{"b":"y"}},{"id":3,"s":null}]`))
	want := []string{`id=1 p=1 s=(1;"x";) l=[1;] `, `id=2 p=null s=(null;"y";) l=null `, `id=3 p=null s=null l=null `}
	if got := scanRows(t, tbl, ScanOptions{}); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if got := scanRows(t, tbl, ScanOptions{Columns: []string{"l", "id"}, Limit: 2}); !slices.Equal(got, []string{"l=[1;] id=1 ", "l=null id=2 "}) {
		t.Errorf("got %q", got)
	}
}

func TestNotNullIsEnforcedAtEveryDepth(t *testing.T) {
	for ddl, rows := range map[string]struct{ good, bad, column string }{
		"id:long NOT NULL":                            {`{"id":1}`, `{"id":null}`, "id"},
		"s:struct<a:int NOT NULL>":                    {`{"s":null}`, `{"s":{"a":null}}`, "s.a"},
		"s:struct<a:int> NOT NULL":                    {`{"s":{"a":null}}`, `{"s":null}`, "s"},
		"l:array<struct<a:int NOT NULL>>":             {`{"l":[{"a":1},null]}`, `{"l":[{"a":1},{"a":null}]}`, "l.element.a"},
		"p:string NOT NULL,id:long":                   {`{"p":"x"}`, `{"p":null}`, "p"},
		"m:map<string,struct<a:int NOT NULL>>,p:int ": {`{"m":[{"key":"k","value":null}]}`, `{"m":[{"key":"k","value":{"a":null}}]}`, "m.value.a"},
	} {
		s := parseSchema(t, ddl)
		create := &Create{Schema: s}
		if s.Index("p") >= 0 {
			create.PartitionColumns = []string{"p"}
		}
		lenient := relaxed(s)
		for row, ok := range map[string]bool{rows.good: true, rows.bad: false} {
			tbl := newTestTable(t, Options{})
			a, err := tbl.Begin(t.Context(), create)
			if err != nil {
				t.Fatal(err)
			}
			err = a.Write(t.Context(), record(t, lenient, "["+rows.good+","+row+"]"))
			if err == nil {
				_, err = a.Commit(t.Context(), Batch{})
			}
			var null *NotNullError
			if ok && err != nil || !ok && (!errors.As(err, &null) || null.Column != rows.column || null.Row != 1) {
				t.Errorf("%s: %s: %v", ddl, row, err)
			}
			if !ok {
				if _, err := a.Commit(t.Context(), Batch{}); err == nil {
					t.Errorf("%s: %s: committed after all", ddl, row)
				}
			}
		}
	}
}

// relaxed is the type with everything nullable.
func relaxed(t *schema.Type) *schema.Type {
	c := *t
	c.ContainsNull = true
	if c.Elem != nil {
		c.Elem = relaxed(c.Elem)
	}
	c.Fields = slices.Clone(t.Fields)
	for i := range c.Fields {
		c.Fields[i].Nullable = true
		c.Fields[i].Type = relaxed(c.Fields[i].Type)
	}
	return &c
}

func TestEmptyStringInObligatoryPartitionIsRefused(t *testing.T) {
	s := parseSchema(t, "p:string NOT NULL,id:long")
	a, err := newTestTable(t, Options{}).Begin(t.Context(), &Create{Schema: s, PartitionColumns: []string{"p"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Write(t.Context(), record(t, s, `[{"p":""}]`)); !errors.As(err, new(*NotNullError)) {
		t.Errorf("got %v", err)
	}
}

func TestCommitOfUnknownOutcomeKeepsTheFiles(t *testing.T) {
	store := newMemStore()
	lose := false
	wrapped := storage.Wrap(store, func(op *storage.Op, call func() error) error {
		if lose && (op.Name == "put" || op.Name == "get" || op.Name == "list") {
			if op.Name == "put" {
				_ = call()
			}
			return errors.New("connection reset")
		}
		return call()
	})
	tbl := New(wrapped, Options{AppID: "app"})
	s := parseSchema(t, "id:long")
	appendAll(t, tbl, 0, &Create{Schema: s}, record(t, s, `[{"id":1}]`))
	a, err := tbl.Begin(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Write(t.Context(), record(t, s, `[{"id":2}]`)); err != nil {
		t.Fatal(err)
	}
	lose = true
	_, err = a.Commit(t.Context(), Batch{ID: 1})
	if !errors.As(err, new(*commitlog.UnknownError)) {
		t.Fatalf("got %v", err)
	}
	if err := a.Abort(t.Context()); err != nil || len(store.dataKeys()) != 2 {
		t.Errorf("abort: %v, files %v", err, store.dataKeys())
	}
	lose = false
	done, err := a.Commit(t.Context(), Batch{ID: 1})
	if err != nil || !done.Recognised || done.Version != 1 {
		t.Errorf("got %+v, %v", done, err)
	}
	if got := scanRows(t, tbl, ScanOptions{}); len(got) != 2 {
		t.Errorf("rows %q", got)
	}
}

func TestSweepKeepsWhatTheTableRefersTo(t *testing.T) {
	store := newMemStore()
	settles := false
	wrapped := storage.Wrap(store, func(op *storage.Op, call func() error) error {
		if op.Name == "settle" && !settles {
			return errors.New("gone")
		}
		return call()
	})
	tbl := New(wrapped, Options{AppID: "app"})
	s := parseSchema(t, "id:long")
	appendAll(t, tbl, 0, &Create{Schema: s}, record(t, s, `[{"id":1}]`))
	store.objects["part-dead.parquet"], store.unsettled["part-dead.parquet"] = []byte("x"), true
	n, err := New(store, Options{}).Sweep(t.Context())
	if err != nil || n != 1 || len(store.dataKeys()) != 1 {
		t.Errorf("swept %d: %v, left %v", n, err, store.dataKeys())
	}
	if got := scanRows(t, tbl, ScanOptions{}); len(got) != 1 {
		t.Errorf("rows %q", got)
	}
}

// TestSweepKeepsWhatOlderVersionsNeed has a file removed from the table before the process that died behind its commit is swept.
func TestSweepKeepsWhatOlderVersionsNeed(t *testing.T) {
	store := newMemStore()
	tbl := New(store, Options{AppID: "app"})
	s := parseSchema(t, "id:long")
	appendAll(t, tbl, 0, &Create{Schema: s}, record(t, s, `[{"id":1}]`))
	first := newestOf(t, store)
	files, err := first.FilesWhere(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	store.unsettled[files[0].Path] = true
	if _, err := first.Remove(t.Context(), files, time.Now(), "DELETE", nil); err != nil {
		t.Fatal(err)
	}
	if n, err := New(store, Options{}).Sweep(t.Context()); err != nil || n != 0 {
		t.Errorf("swept %d: %v", n, err)
	}
	if got := snapshotRows(t, first, ScanOptions{}); len(got) != 1 {
		t.Errorf("rows %q", got)
	}
}

func TestCreateIsCheckedForAllFaultsAtOnce(t *testing.T) {
	c := &Create{
		Schema: schema.StructOf(
			schema.Field{Name: "a b", Type: schema.Of(schema.Long)}, schema.Field{Name: "bin", Type: schema.Of(schema.Binary)},
			schema.Field{Name: "e", Type: schema.ArrayOf(schema.StructOf())}),
		PartitionColumns: []string{"bin", "nope", "nope"},
		Properties: map[string]string{
			"delta.enableRowTracking": "true", "delta.enableDeletionVectors": "false", codecProperty: "lzo", targetSizeProperty: "huge",
			"delta.dataSkippingNumIndexedCols": "x", "delta.appendOnly": "true", "own.key": "1", "delta.constraints.c": "a > 0",
		},
	}
	err := c.Check()
	if err == nil {
		t.Fatal("let in")
	}
	for _, want := range []string{
		`"a b"`, "bin: its type is binary", "nope: there is no such column", "e.element is a struct without fields",
		"delta.enableRowTracking", "lzo", "huge", "delta.dataSkippingNumIndexedCols", "delta.constraints.c",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in %v", want, err)
		}
	}
	for _, no := range []string{"delta.enableDeletionVectors", "appendOnly", "own.key"} {
		if strings.Contains(err.Error(), no) {
			t.Errorf("%q is in %v", no, err)
		}
	}
	if err := (&Create{Schema: parseSchema(t, "a:int"), PartitionColumns: []string{"a"}}).Check(); err == nil || !strings.Contains(err.Error(), "all columns are partition columns") {
		t.Errorf("got %v", err)
	}
}

func TestProtocolIsTheLowestThatFits(t *testing.T) {
	for ddl, want := range map[string]string{
		"a:timestamp":                      "{1 2 [] []}",
		"a:array<struct<b:timestamp_ntz>>": "{3 7 [timestampNtz] [appendOnly invariants timestampNtz]}",
	} {
		tbl := newTestTable(t, Options{})
		appendAll(t, tbl, 0, &Create{Schema: parseSchema(t, ddl)})
		if got := fmt.Sprint(tbl.Log().Head().Protocol); got != want {
			t.Errorf("%s: %s", ddl, got)
		}
	}
}

// TestCommitThatIsAskedForAgainWhileStoppingTellsWhatWasWrong: it is not put again, so that only the first call knows.
func TestCommitThatIsAskedForAgainWhileStoppingTellsWhatWasWrong(t *testing.T) {
	throttled := false
	wrapped := storage.Wrap(newMemStore(), func(op *storage.Op, call func() error) error {
		if throttled && op.Name == "put" {
			return errors.New("503 SlowDown")
		}
		return call()
	})
	tbl := New(wrapped, Options{AppID: "app"})
	s := parseSchema(t, "id:long")
	appendAll(t, tbl, 0, &Create{Schema: s}, record(t, s, `[{"id":1}]`))
	a, err := tbl.Begin(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	throttled = true
	stopping, stop := context.WithCancel(t.Context())
	stop()
	for range 3 {
		_, err = a.Commit(storage.Finish(stopping), Batch{ID: 1})
		if !errors.As(err, new(*commitlog.UnknownError)) || strings.Count(err.Error(), "503 SlowDown") != 1 {
			t.Fatalf("got %v", err)
		}
	}
	throttled = false
	if done, err := a.Commit(t.Context(), Batch{ID: 1}); err != nil || done.Version != 1 {
		t.Errorf("got %+v, %v", done, err)
	}
}
