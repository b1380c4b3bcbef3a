package compaction_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/compaction"
	"github.com/sluicedata/sluice/internal/tabletest"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/table"
)

// clustered is a table that is clustered by a column and a field of a struct, with so many rows in each of some files.
func clustered(t testing.TB, store storage.Store, batches, rows int, properties map[string]string) *table.Table {
	t.Helper()
	tbl := table.New(store, table.Options{AppID: "test"})
	create := &table.Create{
		Schema: tabletest.Columns(t, "struct<x:int,s:struct<y:string>,note:string>"), ClusterBy: []string{"x", "s.y"}, Properties: properties,
	}
	for batch := range batches {
		appendPoints(t, tbl, batch, create, rows)
	}
	return tbl
}

func appendPoints(t testing.TB, tbl *table.Table, batch int, create *table.Create, rows int) {
	t.Helper()
	var text []string
	for i := range rows {
		n := batch*rows + i
		text = append(text, fmt.Sprintf(`{"x":%d,"s":{"y":"%04d"},"note":"%d"}`, n*7919%1009, n*104729%997, n*n%10007))
	}
	tabletest.Commit(t, tabletest.Begin(t, tbl, create, "["+strings.Join(text, ",")+"]"), batch)
}

// groupsOf are the numbers of files in the groups of a plan.
func groupsOf(t testing.TB, tbl *table.Table, o compaction.Options) (sizes []int) {
	t.Helper()
	for _, g := range plan(t, snapshot(t, tbl), o).Groups {
		sizes = append(sizes, len(g.Files))
	}
	return sizes
}

// TestClusteredTableIsPutInTheOrderOfItsColumns compacts without naming any, counts the files that a query on either reads, and finds
// nothing to do then.
func TestClusteredTableIsPutInTheOrderOfItsColumns(t *testing.T) {
	store := tabletest.Local(t, t.TempDir())
	tbl := clustered(t, store, 10, 6000, map[string]string{"delta.targetFileSize": "30000"})
	before := rowsOf(t, store)
	if err := compact(t.Context(), store, nil); err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(before, rowsOf(t, store)); diff != "" {
		t.Fatalf("%.1000s", diff)
	}
	s := snapshot(t, tbl)
	all := len(filesOf(t, s))
	if all < 12 {
		t.Fatalf("only %d files", all)
	}
	queriesReadAtMost(t, s, 100, 9, float64(all)/2)
	last := history(t, tbl)
	if by := last.Info.OperationParameters["clusterBy"]; by != `["x","s.y"]` || last.Info.OperationParameters["zOrderBy"] != "[]" {
		t.Errorf("clusterBy %v", last.Info.OperationParameters)
	}
	for _, a := range last.Adds {
		if a.DataChange || a.ClusteringProvider != "liquid" || a.Tags["ZCUBE_ZORDER_BY"] != `["x","s.y"]` || a.Tags["ZCUBE_ID"] == "" {
			t.Errorf("%+v", a)
		}
	}
	if sizes := groupsOf(t, tbl, compaction.Options{}); len(sizes) != 0 {
		t.Errorf("groups of %v files are left", sizes)
	}
}

func TestWhatComesToAClusteredTableIsClusteredByItself(t *testing.T) {
	store := tabletest.Local(t, t.TempDir())
	tbl := clustered(t, store, 4, 1000, nil)
	check := func(what string, got []int, want ...int) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: groups of %v files, want %v", what, got, want)
		}
	}
	if err := compact(t.Context(), store, nil); err != nil {
		t.Fatal(err)
	}
	for _, a := range history(t, tbl).Adds {
		if a.ClusteringProvider == "" {
			t.Error("no provider")
		}
	}
	appendPoints(t, tbl, 4, nil, 10)
	if p := history(t, tbl).Adds[0].ClusteringProvider; p != "" {
		t.Errorf("an append is said to be clustered by %s", p)
	}
	appendPoints(t, tbl, 5, nil, 10)
	check("a little came", groupsOf(t, tbl, compaction.Options{}), 2)
	check("all", groupsOf(t, tbl, compaction.Options{Order: compaction.Order{All: true}}), 3)
	check("no more files than allowed", groupsOf(t, tbl, compaction.Options{Order: compaction.Order{All: true}, MaxFiles: 2}), 2)
	if err := compact(t.Context(), store, nil); err != nil {
		t.Fatal(err)
	}
	check("it has become a cube", groupsOf(t, tbl, compaction.Options{}))
	appendPoints(t, tbl, 6, nil, 3000)
	check("much came", groupsOf(t, tbl, compaction.Options{}), 3)
	if _, err := tbl.ClusterBy(t.Context(), []string{"note"}); err != nil {
		t.Fatal(err)
	}
	check("by another column", groupsOf(t, tbl, compaction.Options{}), 3)
	if _, err := tbl.ClusterBy(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if columns, _ := plan(t, snapshot(t, tbl), compaction.Options{}).OrderedBy(); columns != nil {
		t.Errorf("in order of %q, and it is no longer clustered", columns)
	}
}

// TestFilesThatAnotherHasClusteredAreLeftAlone names another implementation in the log. Spark's names no curve.
func TestFilesThatAnotherHasClusteredAreLeftAlone(t *testing.T) {
	tbl := clustered(t, tabletest.Local(t, t.TempDir()), 4, 10, nil)
	files := slices.SortedFunc(slices.Values(history(t, tbl).Adds), func(a, b commitlog.Add) int { return cmp.Compare(a.Path, b.Path) })
	if err := tbl.History(t.Context(), func(c *commitlog.Commit) error {
		if c.Version < 3 {
			files = append(files, c.Adds...)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for i := range files {
		files[i].DataChange = false
	}
	files[0].ClusteringProvider = "other"
	for _, f := range []*commitlog.Add{&files[1], &files[2]} {
		f.ClusteringProvider, f.Tags = "liquid", map[string]string{"ZCUBE_ID": "spark", "ZCUBE_ZORDER_BY": `["x","s.y"]`}
	}
	if _, err := tbl.Log().Commit(t.Context(), commitlog.Transaction{ReadVersion: 3, Actions: commitlog.Commit{Adds: files[:3]}}); err != nil {
		t.Fatal(err)
	}
	p := plan(t, snapshot(t, tbl), compaction.Options{})
	if p.Foreign != 1 || p.Files() != 3 { // the third is in no order, and large beside the two
		t.Errorf("%d files are left to another, %d are to be clustered", p.Foreign, p.Files())
	}
	if sizes := groupsOf(t, tbl, compaction.Options{Order: compaction.Order{All: true}}); !slices.Equal(sizes, []int{4}) {
		t.Errorf("of all: groups of %v files", sizes)
	}
}

func TestClusteringThatDiesAnywhereChangesNoRow(t *testing.T) {
	folder := t.TempDir()
	clustered(t, tabletest.Local(t, folder), 3, 10, nil)
	changesNoRowOf(t, folder, 1, func(t *testing.T, store storage.Store) error { return order(t.Context(), store, by(t), nil) })
}

func TestOrderThatAClusteredTableCannotHave(t *testing.T) {
	clusteredTable := snapshot(t, clustered(t, tabletest.Local(t, t.TempDir()), 1, 1, nil))
	plain := snapshot(t, makeTable(t, tabletest.Local(t, t.TempDir()), 1, 1, nil))
	for _, c := range []struct {
		of    *table.Snapshot
		order compaction.Order
		want  string
	}{
		{clusteredTable, by(t, "note"), "the table is clustered by x, s.y"},
		{plain, compaction.Order{All: true}, "the table is not clustered"},
	} {
		_, err := compaction.NewPlan(t.Context(), c.of, compaction.Options{Order: c.order})
		if !errors.As(err, new(*table.ArgumentError)) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
