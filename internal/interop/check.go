package interop

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/sluicedata/sluice/internal/interop/rowhash"
)

// Engines are the foreign readers that Check asks.
func Engines() []string { return []string{"deltalake", "duckdb"} }

// Content is what a version of a table holds.
type Content struct {
	Rows   int64
	Schema []string // as rowhash.Schema gives it; nil when it does not matter
	Hash   string   // as rowhash.Sum gives it
}

// ContentOf is the content of Arrow records. With columns given only they count.
func ContentOf(schema *arrow.Schema, records []arrow.Record, columns ...string) (Content, error) {
	var sum rowhash.Sum
	for _, rec := range records {
		if err := sum.Record(rec, columns...); err != nil {
			return Content{}, err
		}
	}
	return Content{Rows: sum.Rows, Schema: rowhash.Schema(schema, columns...), Hash: sum.Hash()}, nil
}

// Table is a table and what each of its versions is to hold.
type Table struct {
	Path     string   // a folder, or an s3:// URL
	Disk     string   // the folder with the files of a URL, for engines that read none; empty otherwise
	Columns  []string // to look at; all when empty
	Versions map[int64]Content
	Refused  map[string]string // by engines that refuse it: what their reason has in it
}

// Check reads every given version of every table with every engine, one process an engine, and fails the test for each
// that differs. It skips as Readers does.
func Check(tb testing.TB, tables ...Table) {
	tb.Helper()
	check(tb, Readers(tb), Engines(), tables)
}

// CheckBy does the same with one engine (chdb, polars, spark) in a subtest of its own, so that a machine which cannot have it skips
// no more than that.
func CheckBy(t *testing.T, engine string, tables ...Table) {
	t.Helper()
	t.Run(engine, func(t *testing.T) {
		check(t, Readers(t, engine), []string{engine}, tables)
	})
}

// SparkOnDemand is Readers with Spark, for a test that keeps it busy for minutes. It skips where SLUICE_SPARK in the environment is empty.
func SparkOnDemand(tb testing.TB) *Venv {
	tb.Helper()
	if !sparkHasTime() {
		tb.Skip("it has Spark at work for minutes: it runs with SLUICE_SPARK=1")
	}
	return Readers(tb, "spark")
}

// sparkHasTime says whether Spark is to be asked what takes it minutes.
func sparkHasTime() bool { return os.Getenv("SLUICE_SPARK") != "" }

func check(tb testing.TB, venv *Venv, engines []string, tables []Table) {
	tb.Helper()
	for _, engine := range engines {
		jobs, wants, refused := jobsOf(engine, tables)
		answers, err := venv.Read(tb.Context(), engine, jobs...)
		if err != nil {
			tb.Fatal(err)
		}
		for i, a := range answers {
			if refused[i] != "" {
				if !strings.Contains(a.Error, refused[i]) {
					tb.Errorf("%s is to refuse version %d of %s for %s: %+v", engine, *jobs[i].Version, jobs[i].Table, refused[i], a)
				}
				continue
			}
			for _, difference := range compare(a, jobs[i], wants[i]) {
				tb.Errorf("%s reads version %d of %s: %s", engine, *jobs[i].Version, jobs[i].Table, difference)
			}
		}
	}
}

func jobsOf(engine string, tables []Table) (jobs []Job, wants []Content, refused []string) {
	for _, t := range tables {
		path := t.Path
		if engine != "deltalake" && t.Disk != "" {
			path = t.Disk
		}
		versions := make([]int64, 0, len(t.Versions))
		for v := range t.Versions {
			versions = append(versions, v)
		}
		slices.Sort(versions)
		for _, v := range versions {
			jobs = append(jobs, Job{Table: path, Version: &v, Columns: t.Columns})
			want := t.Versions[v]
			if engine == "chdb" {
				want.Schema = nil // it tells texts as binary
			}
			wants = append(wants, want)
			refused = append(refused, t.Refused[engine])
		}
	}
	return jobs, wants, refused
}

// compare lists the differences of an answer. The order of columns counts only when all of them were asked for.
func compare(got Answer, job Job, want Content) []string {
	if got.Error != "" {
		return []string{"refused: " + got.Error}
	}
	var out []string
	if got.Version != nil && *got.Version != *job.Version {
		out = append(out, fmt.Sprintf("it took version %d", *got.Version))
	}
	if got.Rows != want.Rows {
		out = append(out, fmt.Sprintf("%d rows, want %d", got.Rows, want.Rows))
	}
	if want.Schema != nil && !sameSchema(got.Schema, want.Schema, len(job.Columns) == 0) {
		out = append(out, fmt.Sprintf("columns %v, want %v", got.Schema, want.Schema))
	}
	if got.Hash != want.Hash {
		out = append(out, fmt.Sprintf("other rows: hash %s, want %s", got.Hash, want.Hash))
	}
	return out
}

func sameSchema(a, b []string, ordered bool) bool {
	if !ordered {
		a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	}
	return slices.Equal(a, b)
}
