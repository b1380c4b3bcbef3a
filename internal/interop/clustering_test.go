package interop

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/internal/tabletest"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/table"
)

// TestForeignReadersReadClusteredTables has one put in order by two columns, and then clustered by another.
func TestForeignReadersReadClusteredTables(t *testing.T) {
	Readers(t)
	folder := t.TempDir()
	store := tabletest.Local(t, folder)
	clustered := tabletest.Points(t, store, 40, "x", "s.y")
	asked := Table{Path: folder, Versions: map[int64]Content{}}
	ask := func(s *table.Snapshot) { asked.Versions[s.Version()] = Scanned(t, s) }
	ask(newest(t, store))
	ask(compact(t, store))
	if _, err := clustered.ClusterBy(t.Context(), []string{"note"}); err != nil {
		t.Fatal(err)
	}
	ask(compact(t, store))
	Check(t, asked)
	CheckBy(t, "spark", asked)
	CheckBy(t, "polars", asked)
	CheckBy(t, "chdb", asked)
}

// TestSparkAndSluiceKeepAClusteredTableByTurns has each append to a clustered table, put it in order, and change what it is clustered by.
// Both know the same columns after each step, and all readers the same rows at each version.
func TestSparkAndSluiceKeepAClusteredTableByTurns(t *testing.T) {
	readers := SparkOnDemand(t)
	s := &shared{t: t, folder: t.TempDir(), last: -1, versions: map[int64]Content{}}
	s.store = tabletest.Local(t, s.folder)
	s.spark = readers.Writer(t, "spark", s.folder)
	for _, step := range []struct {
		name       string
		make       func()
		clustering []string
	}{
		{"CREATE", s.make, []string{"id", "text"}},
		{"an append", s.append, []string{"id", "text"}},
		{"another", s.append, []string{"id", "text"}},
		{"a compaction", s.compact, []string{"id", "text"}},
		{"Spark's append", s.sparks("append"), []string{"id", "text"}},
		{"an append", s.append, []string{"id", "text"}},
		{"Spark's OPTIMIZE of what came", s.sparkOptimizes, []string{"id", "text"}},
		{"an append", s.append, []string{"id", "text"}},
		{"a compaction of Spark's files too", s.compact, []string{"id", "text"}},
		{"Spark's CLUSTER BY", s.sparks("cluster-by text"), []string{"text"}},
		{"a compaction by Spark's column", s.compact, []string{"text"}},
		{"Spark's append", s.sparks("append"), []string{"text"}},
		{"Spark's DELETE, by deletion vectors", s.sparks("delete"), []string{"text"}},
		{"a compaction of these", s.compact, []string{"text"}},
		{"CLUSTER BY NONE", s.clusterBy(), nil},
		{"an append", s.append, nil},
		{"CLUSTER BY", s.clusterBy("id"), []string{"id"}},
		{"Spark's OPTIMIZE of files in other orders", s.sparkOptimizes, []string{"id"}},
		{"Spark's log checkpoint", s.sparks("checkpoint"), []string{"id"}},
		{"Spark's CLUSTER BY NONE", s.sparks("cluster-by none"), nil},
		{"an append", s.append, nil},
		{"a compaction", s.compact, nil},
	} {
		step.make()
		s.holds(step.name, step.clustering)
	}
	all := Table{Path: s.folder, Versions: s.versions}
	Check(t, all)
	CheckBy(t, "spark", all)
	CheckBy(t, "polars", all)
	CheckBy(t, "chdb", all)
}

// shared is a table that both write to, and what each of its versions is to hold.
type shared struct {
	t        *testing.T
	folder   string
	store    storage.Store
	spark    *Writer
	ours     []string // rows, as JSON
	last     int64    // version
	versions map[int64]Content
}

func (s *shared) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *shared) make() {
	s.t.Helper()
	s.must(table.New(s.store, table.Options{}).Make(s.t.Context(), &table.Create{
		Schema: tabletest.Columns(s.t, "struct<id:long,part:string,text:string>"), ClusterBy: []string{"id", "text"},
		Properties: map[string]string{"delta.enableDeletionVectors": "true"},
	}))
}

// append appends rows of ours, whose ids are positive.
func (s *shared) append() {
	s.t.Helper()
	var rows []string
	for range 500 {
		n := len(s.ours) + len(rows) + 1
		rows = append(rows, fmt.Sprintf(`{"id":%d,"part":"ours","text":"%04d"}`, n, n*7919%10007))
	}
	s.ours = append(s.ours, rows...)
	tabletest.Commit(s.t, tabletest.Begin(s.t, table.New(s.store, table.Options{}), nil, "["+strings.Join(rows, ",")+"]"), len(s.ours))
}

func (s *shared) compact() {
	s.t.Helper()
	compact(s.t, s.store)
}

func (s *shared) clusterBy(columns ...string) func() {
	return func() {
		_, err := table.New(s.store, table.Options{}).ClusterBy(s.t.Context(), columns)
		s.must(err)
	}
}

func (s *shared) sparks(change string) func() {
	return func() {
		_, err := s.spark.Change(change)
		s.must(err)
	}
}

// sparkOptimizes has Spark put the table in order, which it says as Sluice does.
func (s *shared) sparkOptimizes() {
	s.t.Helper()
	s.sparks("optimize")()
	last := newest(s.t, s.store).Version()
	s.must(commitlog.New(s.store).Commits(s.t.Context(), last, last, func(c *commitlog.Commit) error {
		if last == s.last || c.Info.Operation != "OPTIMIZE" {
			s.t.Error("Spark has not put the table in order")
		}
		for _, add := range c.Adds {
			if add.ClusteringProvider != "liquid" {
				s.t.Errorf("its file has the clustering provider %q", add.ClusteringProvider)
			}
		}
		return nil
	}))
}

// holds is told the columns that the table is clustered by after a step, and notes what the versions that it made are to hold.
func (s *shared) holds(step string, clustering []string) {
	s.t.Helper()
	of, err := s.spark.Change("clustering")
	s.must(err)
	theirs, err := s.spark.Change("rows")
	s.must(err)
	now := newest(s.t, s.store)
	paths, err := now.ClusteringColumns()
	s.must(err)
	for who, got := range map[string][]string{"Sluice": commitlog.DottedPaths(paths), "Spark": of.Clustering} {
		if diff := cmp.Diff(clustering, got, cmpopts.EquateEmpty()); diff != "" {
			s.t.Errorf("after %s, to %s the table is clustered by:\n%s", step, who, diff)
		}
	}
	rows := slices.Clone(s.ours)
	for id, text := range theirs.Rows {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"part":"foreign","text":%q}`, id, text))
	}
	columns := now.Schema().ArrowSchema()
	record, _, err := array.RecordFromJSON(memory.DefaultAllocator, columns, strings.NewReader("["+strings.Join(rows, ",")+"]"))
	s.must(err)
	content := contentOf(s.t, columns, record)
	for ; s.last < now.Version(); s.last++ {
		s.versions[s.last+1] = content
	}
}
