package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/internal/kafkatest"
	"github.com/sluicedata/sluice/internal/seqtest"
	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/storage/storagetest"
	"github.com/sluicedata/sluice/table"
)

// input is a source with known records, shared by many worlds: ids of the good ones, and for each bad one where it is.
type input struct {
	yaml string // the source section
	good []int64
	bad  []string
}

// landing makes n files of records; every eighth record is bad.
func landing(t testing.TB, n, records int) *input {
	t.Helper()
	dir := t.TempDir()
	in := &input{yaml: fmt.Sprintf("  files: {path: '%s/*.ndjson', settle: 0s}\n", dir)}
	old := time.Now().Add(-time.Hour)
	for f := range n {
		name := filepath.Join(dir, fmt.Sprintf("f%02d.ndjson", f))
		var text strings.Builder
		for i := range records {
			in.add(&text, f*records+i, fmt.Sprintf("%s %d", name, i+1))
		}
		if err := os.WriteFile(name, []byte(text.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		when := old.Add(time.Duration(f) * time.Second)
		if err := os.Chtimes(name, when, when); err != nil {
			t.Fatal(err)
		}
	}
	return in
}

// topic makes a topic of partitions with as many records each, some of them in transactions, some of those aborted.
func topic(t testing.TB, partitions, records int) *input {
	t.Helper()
	c := kafkatest.Fake(t)
	name := c.Topic(t, partitions)
	in := &input{yaml: fmt.Sprintf("  kafka: {brokers: [%s], topics: [%s]}\n", strings.Join(c.Addrs, ", "), name)}
	for p := range partitions {
		var produced []*kgo.Record
		for i := range records {
			var text strings.Builder
			in.add(&text, p*records+i, fmt.Sprintf("%s/%d %d", name, p, i))
			produced = append(produced, kafkatest.Record(strings.TrimSuffix(text.String(), "\n")))
		}
		c.Produce(t, name, int32(p), produced...)
	}
	return in
}

func (in *input) add(text *strings.Builder, id int, where string) {
	if id%8 == 5 {
		fmt.Fprintf(text, `{"id": "%d", "day": "2024-05-01"}`+"\n", id)
		in.bad = append(in.bad, where)
		return
	}
	fmt.Fprintf(text, `{"id": %d, "day": "2024-05-%02d", "note": "n%d"}`+"\n", id, id%3+1, id)
	in.good = append(in.good, int64(id))
}

// world is one table with its checkpoint, and a pipeline from the input into it.
type world struct {
	in   *input
	dir  string
	file *pipeline.File
}

// newWorld makes a world whose pipeline file has the extra lines.
func newWorld(t testing.TB, in *input, extra string) *world {
	t.Helper()
	w := &world{in: in, dir: memoryDir(t)}
	w.file = w.parse(t, "p", extra)
	return w
}

// memoryDir is a folder in memory where there is such a thing: deaths are simulated, so waiting for a disk proves nothing.
func memoryDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "sluice-test-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

const quarantined = "on_error: quarantine\n"

func (w *world) parse(t testing.TB, name, extra string) *pipeline.File {
	t.Helper()
	text := "name: " + name + "\nsource:\n" + w.in.yaml + `columns:
  - {name: id, type: long, nullable: false}
  - {name: day, type: date}
  - {name: note, type: string}
table:
  path: lake/t
`
	f, err := pipeline.Parse(filepath.Join(w.dir, "p.yaml"), []byte(text+extra+"checkpoint: checkpoint-"+name+"\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// run runs the pipeline to its end as one process, with wrap around its stores.
func (w *world) run(ctx context.Context, options pipeline.BuildOptions) error {
	p, err := pipeline.Build(w.file, options)
	if err != nil {
		return err
	}
	return errors.Join(p.Engine.Run(ctx), p.Close())
}

func (w *world) mustRun(t testing.TB) {
	t.Helper()
	if err := w.run(t.Context(), pipeline.BuildOptions{}); err != nil {
		t.Fatal(err)
	}
}

// check checks that each record of the input is where it belongs, once; that the audit passes; and that nothing of a dead
// attempt is left.
func (w *world) check(t testing.TB) {
	t.Helper()
	w.checkRows(t)
	w.noLeftovers(t, w.file.Table.Path)
	w.noLeftovers(t, w.file.QuarantinePath())
	w.noLeftovers(t, w.file.Checkpoint)
}

// checkRows is check without the last.
func (w *world) checkRows(t testing.TB) {
	t.Helper()
	ids := w.column(t, w.file.Table.Path, "id")
	want := make([]string, len(w.in.good))
	for i, id := range w.in.good {
		want[i] = fmt.Sprint(id)
	}
	compare(t, "rows", ids, want)
	if w.file.OnError.Policy == pipeline.PolicyQuarantine {
		sources := w.column(t, w.file.QuarantinePath(), "source")
		positions := w.column(t, w.file.QuarantinePath(), "position")
		got := make([]string, len(sources))
		for i := range got {
			got[i] = sources[i] + " " + positions[i]
		}
		compare(t, "quarantined records", got, w.in.bad)
	}
	w.audit(t)
}

func compare(t testing.TB, what string, got, want []string) {
	t.Helper()
	got, want = slices.Clone(got), slices.Clone(want)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: %d, want %d; %s", what, len(got), len(want), difference(got, want))
	}
}

func difference(got, want []string) string {
	count := map[string]int{}
	for _, g := range got {
		count[g]++
	}
	for _, w := range want {
		count[w]--
	}
	var odd []string
	for _, k := range slices.Sorted(maps.Keys(count)) {
		if count[k] != 0 {
			odd = append(odd, fmt.Sprintf("%s: %+d", k, count[k]))
		}
	}
	return strings.Join(odd[:min(len(odd), 10)], ", ")
}

// newest is a table's newest version.
func newest(t testing.TB, path string) *table.Snapshot {
	t.Helper()
	store, err := pipeline.OpenStore(path, "test")
	if err != nil {
		t.Fatal(err)
	}
	s, err := table.New(store, table.Options{}).Snapshot(t.Context(), table.Newest)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// column reads a column of a table as texts.
func (w *world) column(t testing.TB, path, name string) (values []string) {
	t.Helper()
	err := newest(t, path).Scan(t.Context(), table.ScanOptions{Columns: []string{name}}, func(r arrow.Record) error {
		for i := range int(r.NumRows()) {
			values = append(values, text(r.Column(0), i))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func text(a arrow.Array, i int) string { return a.(interface{ ValueStr(int) string }).ValueStr(i) }

var _ interface{ ValueStr(int) string } = (*array.Int64)(nil)

func (w *world) audit(t testing.TB) *batch.AuditReport {
	t.Helper()
	p, err := pipeline.Build(w.file, pipeline.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	report, err := p.Audit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Err(); err != nil {
		t.Error(err)
	}
	return report
}

// noLeftovers checks that all Parquet files under a table are the table's, and that nothing is staged.
func (w *world) noLeftovers(t testing.TB, path string) {
	t.Helper()
	refers := map[string]bool{}
	tbl := table.New(local.New(path), table.Options{})
	if s, err := tbl.Snapshot(t.Context(), table.Newest); err == nil {
		for _, f := range seqtest.All(t, s.Files(t.Context())) {
			refers[filepath.Join(path, filepath.FromSlash(f.Path))] = true
		}
		err := tbl.History(t.Context(), func(c *commitlog.Commit) error {
			for i := range c.Removes { // a vacuum's, which may not be due
				refers[filepath.Join(path, filepath.FromSlash(c.Removes[i].Path))] = true
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	err := filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case strings.Contains(name, "_staging") && !e.IsDir() && e.Name() != ".lock":
			t.Errorf("left staged: %s", name)
		case e.IsDir() && e.Name() == "_delta_log":
			return fs.SkipDir // a log checkpoint is right whoever wrote it
		case strings.HasSuffix(name, ".parquet") && !refers[name]:
			t.Errorf("left behind: %s", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// tearable are the puts that a store without atomic puts could tear: those of plans. A commit log needs atomic ones.
func tearable(_, key string) bool { return strings.HasPrefix(key, "offsets/") }

// wrapAll shares one fate between all stores of a process.
func wrapAll(c *storagetest.Crash) func(string, storage.Store) storage.Store {
	return func(_ string, s storage.Store) storage.Store { return c.Wrap(s) }
}
