package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/internal/kafkatest"
	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/pipeline"
)

func TestProcessesOfOnePipelineCommitEachBatchOnce(t *testing.T) {
	inputs := map[string]*input{"files": landing(t, 8, 9), "kafka": topic(t, 3, 24)}
	for source, in := range inputs {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			for range 5 {
				w := newWorld(t, in, "  partition_by: [day]\n"+quarantined+"batch: {max_files: 1, max_records: 9}\n")
				errs := make([]error, 4)
				var all sync.WaitGroup
				for i := range errs {
					all.Go(func() { errs[i] = w.run(t.Context(), pipeline.BuildOptions{}) })
				}
				all.Wait()
				for _, err := range errs {
					if err != nil && !errors.Is(err, batch.ErrFenced) {
						t.Error(err)
					}
				}
				w.mustRun(t)
				w.check(t)
			}
		})
	}
}

func TestPipelinesShareATable(t *testing.T) {
	in := landing(t, 6, 9)
	w := newWorld(t, in, "on_error: skip\nbatch: {max_files: 1}\n")
	const pipelines = 4
	files := make([]*pipeline.File, pipelines)
	errs := make([]error, pipelines)
	var all sync.WaitGroup
	for i := range files {
		files[i] = w.parse(t, fmt.Sprintf("p%d", i), "on_error: skip\nbatch: {max_files: 1}\n")
		one := &world{in: in, dir: w.dir, file: files[i]}
		all.Go(func() { errs[i] = one.run(t.Context(), pipeline.BuildOptions{}) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	var want []string
	for range pipelines {
		for _, id := range in.good {
			want = append(want, fmt.Sprint(id))
		}
	}
	compare(t, "rows", w.column(t, w.file.Table.Path, "id"), want)
	for i := range files {
		report := (&world{in: in, dir: w.dir, file: files[i]}).audit(t)
		if report.Commits != 6 || report.Versions != 6*pipelines {
			t.Errorf("%s: %d commits of %d versions", report.Pipeline, report.Commits, report.Versions)
		}
	}
}

func TestATableThatWentBackIsBroughtForwardFromThePlans(t *testing.T) {
	for lost := 1; lost <= 4; lost++ {
		w := newWorld(t, landing(t, 6, 9), quarantined+"batch: {max_files: 1}\n")
		w.mustRun(t)
		log := filepath.Join(w.file.Table.Path, "_delta_log")
		commits, err := os.ReadDir(log)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range commits[len(commits)-lost:] {
			if err := os.Remove(filepath.Join(log, c.Name())); err != nil {
				t.Fatal(err)
			}
		}
		var notices []string
		events := batch.Events{Notice: func(text string) { notices = append(notices, text) }}
		if err := w.run(t.Context(), pipeline.BuildOptions{Events: events}); err != nil {
			t.Fatal(err)
		}
		// The data files of the lost commits are nobody's now, and only a vacuum can know it.
		compare(t, "rows", w.column(t, w.file.Table.Path, "id"), texts(w.in.good))
		w.audit(t)
		if !slices.ContainsFunc(notices, func(n string) bool { return strings.Contains(n, "went back") }) {
			t.Errorf("%d commits lost: notices %q", lost, notices)
		}
	}
}

func TestAQuarantineTableThatWentBackIsSaid(t *testing.T) {
	w := newWorld(t, landing(t, 3, 9), quarantined+"batch: {max_files: 1}\n")
	w.mustRun(t)
	if err := os.RemoveAll(w.file.QuarantinePath()); err != nil {
		t.Fatal(err)
	}
	var notices []string
	events := batch.Events{Notice: func(text string) { notices = append(notices, text) }}
	if err := w.run(t.Context(), pipeline.BuildOptions{Events: events}); err != nil {
		t.Fatal(err)
	}
	if len(notices) != 1 || !strings.Contains(notices[0], "does not hold the 1 bad records of batch 2") {
		t.Errorf("notices %q", notices)
	}
}

func texts(ids []int64) []string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = fmt.Sprint(id)
	}
	return all
}

func TestOldPlansArePrunedAndTheSourceStillKnows(t *testing.T) {
	for source, in := range map[string]*input{"files": landing(t, 40, 3), "kafka": topic(t, 2, 60)} {
		w := newWorld(t, in, "on_error: skip\nbatch: {max_files: 1, max_records: 3}\n")
		for { // a process for every three batches
			p, err := pipeline.Build(w.file, pipeline.BuildOptions{MaxBatches: 3, KeepPlans: 5})
			if err != nil {
				t.Fatal(err)
			}
			before := w.versions(t)
			if err := errors.Join(p.Engine.Run(t.Context()), p.Close()); err != nil {
				t.Fatal(err)
			}
			if w.versions(t) == before {
				break
			}
		}
		w.check(t)
		plans, err := os.ReadDir(filepath.Join(w.file.Checkpoint, "offsets"))
		if err != nil || len(plans) > 7 {
			t.Errorf("%s: %d plans are kept, %v", source, len(plans), err)
		}
	}
}

func (w *world) versions(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(w.file.Table.Path, "_delta_log"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return len(entries)
}

func TestBatchesWithoutRowsMakeNoVersions(t *testing.T) {
	c := kafkatest.Fake(t)
	name := c.Topic(t, 1)
	in := &input{yaml: "  kafka: {brokers: [" + c.Addrs[0] + "], topics: [" + name + "]}\n"}
	var values int
	record := func() string {
		var text strings.Builder
		in.add(&text, values*8, "")
		values++
		return strings.TrimSuffix(text.String(), "\n")
	}
	c.Produce(t, name, 0, kafkatest.Record(record()))
	for range 10 {
		aborted := c.Begin(t)
		for range 5 {
			aborted.Produce(t, name, 0, kafkatest.Record(`{"id": -1}`))
		}
		aborted.Abort(t)
	}
	c.Produce(t, name, 0, kafkatest.Record(record()))
	w := newWorld(t, in, "batch: {max_records: 3}\n")
	empty := 0
	events := batch.Events{Empty: func(int64) { empty++ }}
	if err := w.run(t.Context(), pipeline.BuildOptions{Events: events}); err != nil {
		t.Fatal(err)
	}
	w.check(t)
	if report := w.audit(t); report.Versions > 3 || empty < 15 {
		t.Errorf("%d versions with %d empty batches", report.Versions, empty)
	}
	more := c.Begin(t)
	more.Produce(t, name, 0, kafkatest.Record(`{"id": -1}`))
	more.Abort(t)
	w.mustRun(t)
	if report := w.audit(t); report.Partitions[0].To != w.planned(t) {
		t.Errorf("a clean stop left the table at %d, the plans at %d", report.Partitions[0].To, w.planned(t))
	}
}

// planned is where the newest plan ends.
func (w *world) planned(t testing.TB) (to int64) {
	t.Helper()
	p, err := pipeline.Build(w.file, pipeline.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s, err := p.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s.Positions[0].Position
}

func TestACancelledRunLeavesNothingAndTheNextGoesOn(t *testing.T) {
	in := landing(t, 6, 9)
	for at := range 40 {
		w := newWorld(t, in, "  partition_by: [day]\n"+quarantined+"batch: {max_files: 1}\n")
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		stop := func() {
			if n++; n > at {
				cancel()
			}
		}
		events := batch.Events{
			Planned:   func(offsetlog.Plan, bool) { stop() },
			Progress:  func(batch.Progress) { stop() },
			Committed: func(batch.Done) { stop() },
			BadRecord: func(batch.Fault) { stop() },
		}
		if err := w.run(ctx, pipeline.BuildOptions{Events: events}); err != nil {
			t.Fatalf("stopped after %d events: %v", at, err)
		}
		cancel()
		w.noLeftovers(t, w.file.Table.Path)
		w.noLeftovers(t, w.file.QuarantinePath())
		w.mustRun(t)
		w.check(t)
	}
}
