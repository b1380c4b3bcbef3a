package table

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/commitlog"
)

// clusteringOf are the columns that the newest version is clustered by, dotted.
func clusteringOf(t testing.TB, tbl *Table) []string {
	t.Helper()
	s, err := tbl.Snapshot(t.Context(), Newest)
	if err != nil {
		t.Fatal(err)
	}
	columns, err := s.ClusteringColumns()
	if err != nil {
		t.Fatal(err)
	}
	return commitlog.DottedPaths(columns)
}

// TestClusteringColumnsHaveStatisticsWhateverTheProperties has another engine turn statistics off.
func TestClusteringColumnsHaveStatisticsWhateverTheProperties(t *testing.T) {
	store := newMemStore()
	tbl := New(store, Options{AppID: "test"})
	s := parseSchema(t, "id:long,s:struct<a:int,b:string>,late:date")
	create := &Create{Schema: s, ClusterBy: []string{"late", "s.b"}, Properties: map[string]string{"delta.columnMapping.mode": "name"}}
	r := rand.New(rand.NewPCG(1, 2))
	appendAll(t, tbl, 0, create, randomRecord(r, s, 5))
	if got := clusteringOf(t, tbl); !cmp.Equal(got, create.ClusterBy) {
		t.Errorf("clustered by %q", got)
	}
	head := tbl.Log().Head()
	off := head.Metadata
	off.Configuration = map[string]string{"delta.columnMapping.mode": "name", "delta.dataSkippingNumIndexedCols": "0"}
	if _, err := tbl.Log().Commit(t.Context(), commitlog.Transaction{ReadVersion: 0, Actions: commitlog.Commit{Metadata: &off}}); err != nil {
		t.Fatal(err)
	}
	appendAll(t, tbl, 1, nil, randomRecord(r, s, 5))
	snap := newestOf(t, store)
	for i, f := range filesOf(t, snap) {
		_, id := f.Stats().Nulls["id"]
		_, late := f.Stats().Nulls["late"]
		_, inner := f.Stats().Nulls["s.b"]
		if id != (i == 0) || !late || !inner {
			t.Errorf("file %d has statistics %+v", i, f.Stats())
		}
		if f.add.ClusteringProvider != "" {
			t.Errorf("file %d: clustered by %s", i, f.add.ClusteringProvider)
		}
	}
	if columns, err := snap.StatsColumns(); err != nil || !cmp.Equal(columns, map[string]struct{}{"late": {}, "s.b": {}}) {
		t.Errorf("columns with statistics: %v, %v", columns, err)
	}
	if d := snap.state.Domains["delta.clustering"]; strings.Contains(d.Configuration, "late") || !strings.Contains(d.Configuration, "col-") {
		t.Errorf("stored names are not in %+v", d)
	}
}

func TestTableIsClusteredByOtherColumns(t *testing.T) {
	store := newMemStore()
	tbl := New(store, Options{AppID: "test"})
	s := parseSchema(t, "id:long,s:struct<a:int,b:string>")
	appendAll(t, tbl, 0, &Create{Schema: s}, randomRecord(rand.New(rand.NewPCG(1, 2)), s, 5))
	change := func(want Changed, columns ...string) {
		t.Helper()
		got, err := tbl.ClusterBy(t.Context(), columns)
		if err != nil || got.Version != want.Version || got.Changed != want.Changed || (got.Protocol != nil) != (want.Protocol != nil) {
			t.Fatalf("%q: %+v, %v", columns, got, err)
		}
		if now := clusteringOf(t, tbl); !cmp.Equal(now, columns) {
			t.Errorf("%q: it is clustered by %q", columns, now)
		}
	}
	change(Changed{Version: 0})
	change(Changed{1, true, &commitlog.Protocol{}}, "s.a", "id")
	change(Changed{Version: 1}, "s.a", "id")
	change(Changed{Version: 2, Changed: true}, "id", "s.b")
	change(Changed{Version: 3, Changed: true})
	if got := tbl.Log().Head().Protocol; !cmp.Equal(got.WriterFeatures, []string{"appendOnly", "invariants", "clustering", "domainMetadata"}) || got.MinReaderVersion != 1 {
		t.Errorf("%+v", got)
	}
	change(Changed{Version: 4, Changed: true}, "id")
	_, err := tbl.ChangeProperties(t.Context(), Change{Set: map[string]string{"delta.dataSkippingNumIndexedCols": "0"}})
	if err == nil || !strings.Contains(err.Error(), "cluster by column id: files have no statistics of it") {
		t.Errorf("got %v", err)
	}
}

func TestColumnsThatATableCannotBeClusteredBy(t *testing.T) {
	create := func(columns ...string) error {
		return (&Create{
			Schema: parseSchema(t, "a:long,b:string,c:date,d:double,e:boolean,f:binary,s:struct<x:int,l:array<int>>,late:int"), ClusterBy: columns,
			Properties: map[string]string{"delta.dataSkippingStatsColumns": "a,b,c,d,e,f,s"},
		}).Check()
	}
	for columns, want := range map[string]string{
		"a b c s.x":   "",
		"a b c d s.x": "cluster by 5 columns: at most 4",
		"a a":         "cluster by column a: it is named twice",
		"x":           "cluster by column x: there is no such column",
		"e":           "cluster by column e: files have no least and greatest value of type boolean",
		"f":           "column f: files have no least and greatest value of type binary",
		"s":           "column s: files have no least and greatest value of type struct",
		"s.l":         "column s.l: files have no least and greatest value of type array",
		"late":        "column late: files have no statistics of it",
	} {
		err := create(strings.Fields(columns)...)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", columns, err)
		}
	}
	partitioned := &Create{Schema: parseSchema(t, "a:long,b:string"), PartitionColumns: []string{"a"}, ClusterBy: []string{"b"}}
	if err := partitioned.Check(); err == nil || !strings.Contains(err.Error(), `the table is partitioned by ["a"], and cannot be both`) {
		t.Errorf("got %v", err)
	}
}

// TestTableIsNotClusteredByWhatItsFilesDoNotTell has files without statistics of a column.
func TestTableIsNotClusteredByWhatItsFilesDoNotTell(t *testing.T) {
	store := newMemStore()
	tbl := New(store, Options{AppID: "test"})
	s := parseSchema(t, "id:long,late:long")
	r := rand.New(rand.NewPCG(1, 2))
	appendAll(t, tbl, 0, &Create{Schema: s, Properties: map[string]string{"delta.dataSkippingNumIndexedCols": "1"}}, randomRecord(r, s, 5))
	if _, err := tbl.ChangeProperties(t.Context(), Change{Unset: []string{"delta.dataSkippingNumIndexedCols"}}); err != nil {
		t.Fatal(err)
	}
	appendAll(t, tbl, 1, nil, randomRecord(r, s, 5))
	_, err := tbl.ClusterBy(t.Context(), []string{"late"})
	if err == nil || !strings.Contains(err.Error(), "cluster by column late: 1 files have no statistics of it; have them written again by sluice compact --zorder-by late --all") {
		t.Fatalf("got %v", err)
	}
	rewriteAll(t, tbl)
	if _, err := tbl.ClusterBy(t.Context(), []string{"late"}); err != nil {
		t.Error(err)
	}
}

// TestClusteringOfTwoAtOnce has somebody else change it between the reading and the commit.
func TestClusteringOfTwoAtOnce(t *testing.T) {
	store := newMemStore()
	tbl := New(store, Options{AppID: "test"})
	s := parseSchema(t, "id:long,b:long")
	create := &Create{Schema: s, ClusterBy: []string{"id"}}
	appendAll(t, tbl, 0, create, randomRecord(rand.New(rand.NewPCG(1, 2)), s, 5))
	a, err := tbl.Begin(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(store, Options{}).ClusterBy(t.Context(), []string{"b"}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Commit(t.Context(), Batch{ID: 1}); err != nil {
		t.Errorf("an append fails for a change of clustering: %v", err)
	}
	late := commitlog.Transaction{ReadVersion: 0, Actions: commitlog.Commit{Domains: []commitlog.DomainMetadata{commitlog.ClusterBy(s, nil)}}}
	var conflict *commitlog.ConflictError
	if _, err := tbl.Log().Commit(t.Context(), late); !errors.As(err, &conflict) || !strings.Contains(fmt.Sprint(err), "delta.clustering") {
		t.Errorf("got %v", err)
	}
}

func TestSQLNames(t *testing.T) {
	got := SQLNames([][]string{{"a", "b_1"}, {"a b", "c`d"}, {"1a"}, {"é"}})
	if want := []string{"a.b_1", "`a b`.`c``d`", "`1a`", "`é`"}; !cmp.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
