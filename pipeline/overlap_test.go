package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/storage"
)

// meeting holds the commit of one batch until the batch behind it has named its first data file, and then does something to it.
type meeting struct {
	batch  int64
	commit func(call func() error) error

	staged  chan struct{} // closed when the batch behind has
	plans   sync.Map      // batches that are planned
	once    sync.Once
	lonely  bool // the commit has waited in vain
	commits []string
}

func newMeeting(batch int64, commit func(call func() error) error) *meeting {
	return &meeting{batch: batch, commit: commit, staged: make(chan struct{})}
}

func (m *meeting) options(cancel context.CancelFunc) pipeline.BuildOptions {
	return pipeline.BuildOptions{
		Wrap: func(name string, s storage.Store) storage.Store {
			if name != "table" {
				return s
			}
			return storage.Wrap(s, func(op *storage.Op, call func() error) error { return m.operation(op, call, cancel) })
		},
		Events: batch.Events{
			Planned:   func(p offsetlog.Plan, _ bool) { m.plans.Store(p.Batch, true) },
			Committed: func(d batch.Done) { m.commits = append(m.commits, fmt.Sprint(d.Record.Batch)) },
		},
	}
}

func (m *meeting) operation(op *storage.Op, call func() error, cancel context.CancelFunc) error {
	_, behind := m.plans.Load(m.batch + 1)
	switch {
	case op.Name == "publish" && behind:
		defer m.once.Do(func() { close(m.staged) })
	case op.Name == "put" && op.Key == fmt.Sprintf("_delta_log/%020d.json", m.batch):
		select {
		case <-m.staged:
		case <-time.After(time.Minute): // it never comes: batches do not overlap
			m.lonely = true
		}
		if cancel != nil {
			cancel()
		}
		return m.commit(call)
	}
	return call()
}

// TestBatchIsStagedWhileTheOneBeforeItCommits has a commit wait for the next batch's files. Commits stay in order.
func TestBatchIsStagedWhileTheOneBeforeItCommits(t *testing.T) {
	for name, in := range map[string]*input{"files": landing(t, 5, 9), "topic": topic(t, 1, 50)} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, in, quarantined+"batch: {max_files: 1, max_records: 10}\n")
			m := newMeeting(2, func(call func() error) error { return call() })
			if err := w.run(t.Context(), m.options(nil)); err != nil {
				t.Fatal(err)
			}
			if m.lonely {
				t.Error("the next batch was not staged meanwhile")
			}
			if want := []string{"0", "1", "2", "3", "4"}; !slices.Equal(m.commits, want) {
				t.Errorf("committed: %q", m.commits)
			}
			w.check(t)
		})
	}
}

// TestNothingFollowsACommitThatFailed has a commit fail when the next batch is staged.
func TestNothingFollowsACommitThatFailed(t *testing.T) {
	failed := errors.New("no commits today")
	w := newWorld(t, landing(t, 5, 9), quarantined+"batch: {max_files: 1}\n")
	m := newMeeting(2, func(func() error) error { return failed })
	err := w.run(t.Context(), m.options(nil))
	if !errors.Is(err, failed) || !strings.Contains(err.Error(), "batch 2: ") || errors.Is(err, context.Canceled) {
		t.Errorf("run: %v", err)
	}
	if n := newest(t, w.file.Table.Path).Version(); n != 1 || m.lonely {
		t.Errorf("table version %d, want 1; staged meanwhile: %v", n, !m.lonely)
	}
	w.mustRun(t)
	w.check(t)
}

// TestProcessWithTwoBatchesInFlightIsFenced has another process run both, and all others.
func TestProcessWithTwoBatchesInFlightIsFenced(t *testing.T) {
	w := newWorld(t, landing(t, 5, 9), quarantined+"batch: {max_files: 1}\n")
	m := newMeeting(2, func(call func() error) error {
		w.mustRun(t)
		return call()
	})
	if err := w.run(t.Context(), m.options(nil)); !errors.Is(err, batch.ErrFenced) || m.lonely {
		t.Errorf("run: %v; staged meanwhile: %v", err, !m.lonely)
	}
	w.check(t)
}

// TestStopLeavesTheBatchThatCommitsAndNoneBehindIt stops a run while one batch commits and the next one is staged.
func TestStopLeavesTheBatchThatCommitsAndNoneBehindIt(t *testing.T) {
	w := newWorld(t, landing(t, 5, 9), quarantined+"batch: {max_files: 1}\n")
	ctx, cancel := context.WithCancel(t.Context())
	m := newMeeting(2, func(call func() error) error { return call() })
	if err := w.run(ctx, m.options(cancel)); err != nil {
		t.Fatal(err)
	}
	if n := newest(t, w.file.Table.Path).Version(); n < 2 || n > 3 || m.lonely { // the one behind may be staged already
		t.Errorf("table version %d, want 2 or 3; staged meanwhile: %v", n, !m.lonely)
	}
	w.noLeftovers(t, w.file.Table.Path)
	w.mustRun(t)
	w.check(t)
}
