package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/internal/kafkatest"
	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/storage/storagetest"
	"github.com/sluicedata/sluice/table"
)

const (
	// keepsNothing has a vacuum delete whatever the newest version does not need.
	keepsNothing = "  properties: {delta.deletedFileRetentionDuration: interval 0 seconds}\n"
	compacted    = "maintenance: {compact: {min_files: 4, min_age: 0s}}\n"
)

// files is how many the newest version of a table has.
func files(t testing.TB, path string) int {
	t.Helper()
	return newest(t, path).State().Files.Len()
}

// tells keeps what is told of maintenance: work, the table's last name, files, and whether it failed.
type tells struct{ all []string }

func (l *tells) events() batch.Events {
	return batch.Events{Maintained: func(d batch.Maintained) {
		l.all = append(l.all, fmt.Sprint(d.Work, " ", d.Table[strings.LastIndex(d.Table, "/")+1:], " ", d.Files, " ", d.Err))
	}}
}

func TestARunCompactsItsTables(t *testing.T) {
	in := landing(t, 5, 8)
	for name, tt := range map[string]struct {
		extra string
		left  int // files of each of both tables
		told  []string
	}{
		"off":             {"", 5, nil},
		"auto":            {"maintenance: {compact: auto}\n", 5, nil},
		"enough of them":  {"maintenance: {compact: {min_files: 5, min_age: 0s}}\n", 1, []string{"compact t 5 <nil>", "compact t_quarantine 5 <nil>"}},
		"too few of them": {"maintenance: {compact: {min_files: 6, min_age: 0s}}\n", 5, nil},
		"too young":       {"maintenance: {compact: {min_files: 4}}\n", 5, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, in, quarantined+"batch: {max_files: 1}\n"+tt.extra)
			var told tells
			if err := w.run(t.Context(), pipeline.BuildOptions{Events: told.events()}); err != nil {
				t.Fatal(err)
			}
			if good, bad := files(t, w.file.Table.Path), files(t, w.file.QuarantinePath()); good != tt.left || bad != tt.left {
				t.Errorf("%d and %d files are left", good, bad)
			}
			compare(t, "told", told.all, tt.told)
			w.check(t)
			w.mustRun(t)
			w.check(t)
		})
	}
}

// TestARunCompactsWhileItAppends has a record come behind each commit, until the table has been compacted twice.
func TestARunCompactsWhileItAppends(t *testing.T) {
	c := kafkatest.Fake(t)
	topic := c.Topic(t, 1)
	in := &input{yaml: "  kafka: {brokers: [" + c.Addrs[0] + "], topics: [" + topic + "]}\n"}
	next := func() {
		var text strings.Builder
		in.add(&text, 8*len(in.good), "")
		c.Produce(t, topic, 0, kafkatest.Record(strings.TrimSuffix(text.String(), "\n")))
	}
	w := newWorld(t, in, "  partition_by: [day]\n"+compacted)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	began := time.Now()
	hurried := func() time.Time { return began.Add(1000 * time.Since(began)) } // so that no pause between looks is long
	var compactions atomic.Int64
	events := batch.Events{
		Committed: func(batch.Done) {
			if compactions.Load() >= 2 {
				stop()
				return
			}
			next()
		},
		Maintained: func(d batch.Maintained) {
			if d.Err != nil || d.Files < 4 {
				t.Errorf("told of %+v", d)
			}
			compactions.Add(1)
		},
	}
	next()
	continuous := pipeline.Trigger{Mode: pipeline.Continuous}
	if err := w.run(ctx, pipeline.BuildOptions{Events: events, Trigger: &continuous, Now: hurried}); err != nil {
		t.Fatal(err)
	}
	if n := files(t, w.file.Table.Path); n >= len(in.good) || compactions.Load() < 2 {
		t.Errorf("%d files of %d batches, after %d compactions", n, len(in.good), compactions.Load())
	}
	w.check(t)
	w.mustRun(t)
	w.check(t)
}

func TestARunPutsAClusteredTableInOrder(t *testing.T) {
	w := newWorld(t, landing(t, 5, 8), "on_error: skip\nbatch: {max_files: 1}\n"+compacted)
	tbl := table.New(local.New(w.file.Table.Path), table.Options{})
	columns, err := schema.ParseDDL("struct<id: long not null, day: date, note: string>")
	if err != nil {
		t.Fatal(err)
	}
	if err := tbl.Make(t.Context(), &table.Create{Schema: columns, ClusterBy: []string{"note", "id"}}); err != nil {
		t.Fatal(err)
	}
	w.mustRun(t)
	var inOrder []string
	err = tbl.History(t.Context(), func(c *commitlog.Commit) error {
		for i := range c.Adds {
			if c.Rearranges() {
				inOrder = append(inOrder, c.Adds[i].ClusteringProvider)
			}
		}
		return nil
	})
	if err != nil || !slices.Equal(inOrder, []string{"liquid"}) {
		t.Errorf("files that were put in order have the providers %q, %v", inOrder, err)
	}
	w.check(t)
}

// atStage calls do at each staging of a data file behind so many.
func atStage(behind int64, do func() error) func(string, storage.Store) storage.Store {
	var staged atomic.Int64
	return func(_ string, s storage.Store) storage.Store {
		return storage.Wrap(s, func(op *storage.Op, call func() error) error {
			if op.Name == "stage" && !commitlog.InLog(op.Key) && staged.Add(1) > behind {
				return do()
			}
			return call()
		})
	}
}

func TestACompactionThatFailsIsToldAndTheRunGoesOn(t *testing.T) {
	w := newWorld(t, landing(t, 5, 8), "on_error: skip\nbatch: {max_files: 1}\n"+compacted)
	var told tells
	full := atStage(5, func() error { return errors.New("no quota for compactions") })
	if err := w.run(t.Context(), pipeline.BuildOptions{Wrap: full, Events: told.events()}); err != nil {
		t.Fatal(err)
	}
	if len(told.all) != 1 || !strings.HasPrefix(told.all[0], "compact t 0 compact table "+w.file.Table.Path+": ") || !strings.HasSuffix(told.all[0], "no quota for compactions") {
		t.Errorf("told %q", told.all)
	}
	w.check(t)
	s, err := w.status(t, nil)
	if err != nil || len(s.Maintenance) != 1 {
		t.Fatalf("%+v, %v", s.Maintenance, err)
	}
	if c := s.Maintenance[0]; s.State != batch.OK || c.Work != "compact" || c.Table != w.file.Table.Path || c.Done != nil || !strings.Contains(c.Failed.Error, "no quota") || c.Failed.Kind != "failed" {
		t.Errorf("%s, %+v", s.State, c)
	}
	w.mustRun(t)
	if s, err = w.status(t, nil); err != nil || len(s.Maintenance) != 1 || s.Maintenance[0].Failed != nil || s.Maintenance[0].Done.Files != 5 {
		t.Errorf("%+v, %v", s.Maintenance, err)
	}
	w.check(t)
}

func TestAStopDoesNotWaitForACompaction(t *testing.T) {
	w := newWorld(t, landing(t, 5, 8), "on_error: skip\nbatch: {max_files: 1}\n"+compacted)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	held := atStage(5, func() error {
		stop()
		return context.Canceled
	})
	var told tells
	if err := w.run(ctx, pipeline.BuildOptions{Wrap: held, Events: told.events()}); err != nil || len(told.all) > 0 {
		t.Errorf("%v, and told %q", err, told.all)
	}
	w.check(t)
	w.mustRun(t)
	w.check(t)
}

func TestAVacuumIsDueByTheLastOneOfWhateverRun(t *testing.T) {
	w := newWorld(t, landing(t, 5, 8), keepsNothing+"on_error: skip\nbatch: {max_files: 1}\nmaintenance: {compact: {min_files: 5, min_age: 0s}}\n")
	w.mustRun(t) // a vacuum of the run that compacts may come before or behind that
	w.file.Maintenance.Vacuum.Every = 24 * time.Hour
	for i, run := range []struct {
		after time.Duration
		fails bool
		told  []string
	}{
		{0, false, []string{"vacuum t 5 <nil>"}},
		{23 * time.Hour, false, nil},
		{24 * time.Hour, true, []string{"vacuum t 0 vacuum table " + w.file.Table.Path + ": list: no answer"}},
		{24*time.Hour + 59*time.Minute, false, nil},
		{25 * time.Hour, false, []string{"vacuum t 0 <nil>"}},
	} {
		var told tells
		options := pipeline.BuildOptions{Events: told.events(), Now: func() time.Time { return time.Now().Add(run.after) }}
		if run.fails {
			options.Wrap = func(name string, s storage.Store) storage.Store {
				return storage.Wrap(s, func(op *storage.Op, call func() error) error {
					if name == "table" && op.Name == "list" && op.Key == "" {
						return &storage.Error{Op: op.Name, Err: errAway}
					}
					return call()
				})
			}
		}
		if err := w.run(t.Context(), options); err != nil {
			t.Fatal(err)
		}
		compare(t, fmt.Sprintf("told in run %d", i), told.all, run.told)
	}
	w.check(t)
}

// TestARunMayDieAnywhereInItsMaintenance dies, or is lied to, at each storage operation of a run that compacts its table and deletes
// what that does not need any more.
func TestARunMayDieAnywhereInItsMaintenance(t *testing.T) {
	in := landing(t, 2, 9)
	for _, mode := range []storagetest.Mode{storagetest.After, storagetest.Lost, storagetest.Late} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			points := crashLoop(t, in, keepsNothing+"on_error: skip\nbatch: {max_files: 1}\nmaintenance: {compact: {min_files: 2, min_age: 0s}, vacuum: auto}\n", mode, 6)
			t.Logf("%d crash points, every %d. tried", points, stride)
		})
	}
}

func TestARunCompactsInS3(t *testing.T) {
	c := newCloud(t, 3, 9, nil)
	w := c.world(t, "compact", "on_error: skip\nbatch: {max_files: 1}\nmaintenance: {compact: {min_files: 3, min_age: 0s}, vacuum: auto}\n")
	var told tells
	if err := w.run(t.Context(), pipeline.BuildOptions{Events: told.events()}); err != nil {
		t.Fatal(err)
	}
	compare(t, "told", told.all, []string{"compact t 3 <nil>", "vacuum t 0 <nil>"})
	if n := files(t, w.file.Table.Path); n != 1 {
		t.Errorf("%d files", n)
	}
	w.checkRows(t)
}
