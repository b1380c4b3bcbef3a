package interop

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/sluicedata/sluice/internal/tabletest"
	"github.com/sluicedata/sluice/table"
)

// side is that of the square of points whose files queries skip.
const side = 270

// TestEnginesSkipFilesOfTablesInOrder counts the files that queries on either of two columns read, by the engines' own metrics: of the
// files as they came, and of those that a compaction has put in order. They are those that Sluice's scan reads.
func TestEnginesSkipFilesOfTablesInOrder(t *testing.T) {
	engines := map[string]*Venv{"duckdb": Readers(t)}
	if sparkHasTime() {
		engines["spark"] = Readers(t, "spark")
	}
	columns := []string{"x", "s.y"}
	tables := []*ordered{{name: "in Z-order"}, {name: "clustered"}}
	tables[0].make(t, nil, columns)
	tables[1].make(t, columns, nil)
	for engine, venv := range engines {
		d := venv.beginFor(t, "files_read.py", engine)
		for _, o := range tables {
			for i, condition := range []string{"x = %d", "s.y = '%04d'"} {
				before, of := o.filesRead(t, d, o.before, condition)
				after, into := o.filesRead(t, d, o.after, condition)
				t.Logf("%s, %s: a query on %s reads %.1f of %d files, and %.1f of %d before", engine, o.name, columns[i], after, into, before, of)
				if into < 16 || before < 0.8*float64(of) || after > float64(into)/2.5 {
					t.Error("that is not what an order is for")
				}
			}
		}
	}
}

// ordered is a table of points, before and after it was put in order.
type ordered struct {
	name, folder  string
	before, after *table.Snapshot
}

// make has the table clustered by columns, or its Z-order go through them.
func (o *ordered) make(t *testing.T, clusterBy, zOrderBy []string) {
	t.Helper()
	o.folder = t.TempDir()
	store := tabletest.Local(t, o.folder)
	tabletest.Points(t, store, side, clusterBy...)
	o.before = newest(t, store)
	o.after = compact(t, store, zOrderBy...)
}

// filesRead asks an engine for some values of a column, and returns how many of all files of a version it has read for one on average.
func (o *ordered) filesRead(t *testing.T, d *dialogue, s *table.Snapshot, condition string) (mean float64, all int) {
	t.Helper()
	asked, read := 0, 0
	for value := side / 12; value < side; value += side / 6 {
		where := fmt.Sprintf(condition, value)
		line, err := json.Marshal(map[string]any{"table": o.folder, "version": s.Version(), "where": where})
		if err != nil {
			t.Fatal(err)
		}
		var answer struct{ Files, Rows int }
		if err := d.ask(string(line), &answer); err != nil {
			t.Fatal(err)
		}
		if want := filesOf(t, s, where); answer.Files != want || answer.Rows != side {
			t.Errorf("%s, %s, of version %d: %d rows of %d files, want %d rows of %d files", o.name, where, s.Version(), answer.Rows, answer.Files, side, want)
		}
		asked++
		read += answer.Files
	}
	return float64(read) / float64(asked), filesOf(t, s, "")
}

// filesOf is how many files a scan reads for a condition, or without one.
func filesOf(t *testing.T, s *table.Snapshot, where string) int {
	t.Helper()
	var predicate *table.Predicate
	var err error
	if where != "" {
		predicate, err = s.Where(where)
	}
	if err != nil {
		t.Fatal(err)
	}
	files, err := s.FilesWhere(t.Context(), predicate)
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}
