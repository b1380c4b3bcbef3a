package compaction_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/compaction"
	"github.com/sluicedata/sluice/compaction/zorder"
	"github.com/sluicedata/sluice/internal/tabletest"
	"github.com/sluicedata/sluice/memory"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/table"
)

// by is an order with little memory.
func by(t testing.TB, columns ...string) compaction.Order {
	t.Helper()
	return compaction.Order{By: columns, Settings: zorder.Settings{
		Memory: memory.New(4<<20).Open("sort", 4<<20), Scratch: t.TempDir(), Parallelism: 2,
	}}
}

// order is what the command does.
func order(ctx context.Context, store storage.Store, o compaction.Order, done func(compaction.Done)) error {
	tbl := table.New(store, table.Options{})
	if _, err := tbl.Sweep(ctx); err != nil {
		return err
	}
	s, err := tbl.Snapshot(ctx, table.Newest)
	if err != nil {
		return err
	}
	p, err := compaction.NewPlan(ctx, s, compaction.Options{Now: time.Now().Add(time.Hour), Order: o})
	if err != nil {
		return err
	}
	return compaction.Run(ctx, s, p, compaction.Events{Done: done})
}

// queriesReadAtMost asks on either column for so many values that are a step apart.
func queriesReadAtMost(t *testing.T, s *table.Snapshot, values, step int, files float64) {
	t.Helper()
	for _, column := range []string{"x = %d", "s.y = '%04d'"} {
		read := 0
		for value := range values {
			where, err := s.Where(fmt.Sprintf(column, step*value))
			if err != nil {
				t.Fatal(err)
			}
			found, err := s.FilesWhere(t.Context(), where)
			if err != nil {
				t.Fatal(err)
			}
			read += len(found)
		}
		if mean := float64(read) / float64(values); mean > files {
			t.Errorf("a query on %s reads %.1f files, want %.1f at most", column, mean, files)
		}
	}
}

// TestQueryOnEitherColumnReadsFewFiles counts the files that a scan reads, before and after.
func TestQueryOnEitherColumnReadsFewFiles(t *testing.T) {
	store := tabletest.Local(t, t.TempDir())
	const side = 270
	tbl := tabletest.Points(t, store, side)
	before := rowsOf(t, store)
	var into int
	err := order(t.Context(), store, by(t, "x", "s.y"), func(d compaction.Done) { into = d.Committed.Files })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, rowsOf(t, store)); diff != "" {
		t.Fatalf("%.1000s", diff)
	}
	if into < 16 {
		t.Fatalf("only %d files", into)
	}
	queriesReadAtMost(t, snapshot(t, tbl), side, 1, float64(into)/2.5)
	last := history(t, tbl)
	if got := last.Info.OperationParameters["zOrderBy"]; got != `["x","s.y"]` || last.Info.Operation != "OPTIMIZE" {
		t.Errorf("%s, zOrderBy %v", last.Info.Operation, got)
	}
	for _, a := range last.Adds {
		if a.DataChange || a.Tags["ZCUBE_ZORDER_BY"] != `["x","s.y"]` || a.Tags["ZCUBE_ID"] == "" || a.Tags["ZCUBE_ID"] != last.Adds[0].Tags["ZCUBE_ID"] {
			t.Errorf("%+v", a)
		}
	}
}

// history is the newest commit.
func history(t testing.TB, tbl *table.Table) *commitlog.Commit {
	t.Helper()
	var last *commitlog.Commit
	if err := tbl.History(t.Context(), func(c *commitlog.Commit) error { last = c; return nil }); err != nil {
		t.Fatal(err)
	}
	return last
}

// TestWhatIsInOrderIsLeftUntilEnoughCame appends to a table in order, a little and then more.
func TestWhatIsInOrderIsLeftUntilEnoughCame(t *testing.T) {
	store := tabletest.Local(t, t.TempDir())
	tbl := makeTable(t, store, 12, 400, nil)
	groups := func(o compaction.Order) (got []string) {
		for _, g := range plan(t, snapshot(t, tbl), compaction.Options{Order: o}).Groups {
			got = append(got, fmt.Sprint(g.Partition, " ", len(g.Files)))
		}
		return got
	}
	check := func(what string, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: groups %q, want %q", what, got, want)
		}
	}
	check("nothing is in order", groups(by(t, "id")), "day=2026-11-01 12", "day=2026-11-02 12")
	if err := order(t.Context(), store, by(t, "id"), nil); err != nil {
		t.Fatal(err)
	}
	check("all is in order", groups(by(t, "id")))
	check("in another one", groups(by(t, "note", "id")), "day=2026-11-01 1", "day=2026-11-02 1")
	all := by(t, "id")
	all.All = true
	check("all", groups(all), "day=2026-11-01 1", "day=2026-11-02 1")
	appendRows(t, tbl, 12, nil, 4)
	check("a little came", groups(by(t, "id")), "day=2026-11-01 1", "day=2026-11-02 1")
	appendRows(t, tbl, 13, nil, 2000)
	check("more came", groups(by(t, "id")), "day=2026-11-01 3", "day=2026-11-02 3")
}

// TestOrderedRowsOfEveryTypeAreTheSame orders by several types, with memory for all and for few of the rows.
func TestOrderedRowsOfEveryTypeAreTheSame(t *testing.T) {
	columns := tabletest.Columns(t, "struct<id:long,b:boolean,i16:short,f:double,d:decimal(38,2),s:string,y:binary,day:date,ts:timestamp,l:array<array<string>>,m:map<string,int>,in:struct<x:byte,z:string>>")
	some := []string{
		`"b":true,"i16":-32768,"f":-1.5,"d":"-99999999999999999999999.99","s":"é","y":"AAH/","day":"1969-12-31","ts":"1969-12-31T23:59:59.999999Z","l":[["a",null],[],null],"m":[{"key":"k","value":null}],"in":{"x":3,"z":"w"}`,
		`"s":null`,
		`"b":false,"i16":7,"f":0,"d":"0.01","s":"","y":"","day":"9999-12-31","ts":"2026-01-01T00:00:00Z","l":[],"m":[],"in":{"x":null,"z":null}`,
		`"in":null,"l":[[]],"s":"` + strings.Repeat("long", 300) + `"`,
	}
	for _, rows := range []int{20, 1500} {
		store := tabletest.Local(t, t.TempDir())
		tbl := table.New(store, table.Options{AppID: "test"})
		for batch := range 3 {
			var texts []string
			for i := range rows {
				texts = append(texts, fmt.Sprintf(`{"id":%d,%s}`, i*7919%rows, some[(i+batch)*i%len(some)]))
			}
			tabletest.Commit(t, tabletest.Begin(t, tbl, &table.Create{Schema: columns}, "["+strings.Join(texts, ",")+"]"), batch)
		}
		before := rowsOf(t, store)
		for _, columns := range [][]string{{"id"}, {"s", "in.z", "b"}, {"f", "d", "y", "day", "ts", "i16", "in.x", "id"}} {
			if err := order(t.Context(), store, by(t, columns...), nil); err != nil {
				t.Fatal(columns, err)
			}
			if diff := cmp.Diff(before, rowsOf(t, store)); diff != "" {
				t.Fatalf("%q: %.1000s", columns, diff)
			}
		}
	}
}

func TestOrderingThatDiesAnywhereChangesNoRow(t *testing.T) {
	changesNoRowWhereverItDies(t, 2, func(t *testing.T, store storage.Store) error {
		settings := by(t, "note", "id")
		settings.Parallelism = 1
		err := order(t.Context(), store, settings, nil)
		if held := settings.Memory.Budget().Use()[0].Held; held != 0 {
			t.Errorf("%v: %d bytes are still counted", err, held)
		}
		return err
	})
}

func TestColumnsThatCannotOrderRowsAreRefused(t *testing.T) {
	tbl := table.New(tabletest.Local(t, t.TempDir()), table.Options{AppID: "test"})
	create := &table.Create{
		Schema:           tabletest.Columns(t, "struct<id:long,day:string,s:struct<a:int,b:array<int>>,late:int>"),
		PartitionColumns: []string{"day"},
		Properties:       map[string]string{"delta.dataSkippingStatsColumns": "id,s"},
	}
	tabletest.Commit(t, tabletest.Begin(t, tbl, create, `[{"id":1,"day":"x"}]`), 0)
	s := snapshot(t, tbl)
	for names, want := range map[string]string{
		"id,day":            "column day: the table is partitioned by it",
		"nothing":           "column nothing: the table has no such column",
		"s":                 "column s: values of type struct<a:int,b:array<int>> have no order",
		"s.b":               "column s.b: values of type array<int> have no order",
		"s.c":               "column s.c: the table has no such column",
		"late":              "column late: files have no statistics of it",
		"id,id":             "column id: it is named twice",
		"1,2,3,4,5,6,7,8,9": "9 columns to order rows by",
		"id,s.a":            "",
	} {
		_, err := compaction.NewPlan(t.Context(), s, compaction.Options{Order: compaction.Order{By: strings.Split(names, ",")}})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", names, err)
		}
	}
}
