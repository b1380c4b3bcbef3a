package pipeline_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/storage"
)

var errAway = errors.New("no answer")

// failing fails all operations on the store of a name that read below a prefix.
func failing(name, prefix string) func(string, storage.Store) storage.Store {
	return func(opened string, s storage.Store) storage.Store {
		return storage.Wrap(s, func(op *storage.Op, call func() error) error {
			if opened == name && strings.HasPrefix(op.Key, prefix) {
				return &storage.Error{Op: op.Name, Key: op.Key, Err: errAway}
			}
			return call()
		})
	}
}

// status is that of the pipeline where stores fail; errors are passing ones.
func (w *world) status(t *testing.T, wrap func(string, storage.Store) storage.Store) (*batch.Status, error) {
	t.Helper()
	p, err := pipeline.Build(w.file, pipeline.BuildOptions{Wrap: wrap, Judge: func(err error) batch.Verdict {
		if errors.Is(err, errAway) {
			return batch.Verdict{Kind: "away", Class: batch.Retrying, Remedy: "wait"}
		}
		return batch.Verdict{Kind: "other", Class: batch.NeedsYou}
	}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Status(t.Context())
	return s, errors.Join(err, p.Close())
}

func TestStatusSaysWhatCannotBeRead(t *testing.T) {
	w := newWorld(t, landing(t, 1, 3), "")
	w.mustRun(t)
	s, err := w.status(t, failing("checkpoint", ""))
	if s != nil || !errors.Is(err, errAway) || !strings.Contains(err.Error(), "the checkpoint "+w.file.Checkpoint+" cannot be read") {
		t.Errorf("without its checkpoint: %v, %v", s, err)
	}
	for _, store := range []struct{ name, prefix string }{{"checkpoint", "offsets/"}, {"table", "_delta_log/"}} {
		s, err := w.status(t, failing(store.name, store.prefix))
		if s == nil || !errors.Is(err, errAway) || s.State != batch.Retrying || !strings.Contains(s.Unreachable, errAway.Error()) {
			t.Errorf("without %v: %+v, %v", store, s, err)
		}
	}
}

// TestStatusKnowsTheErrorOfARunThatIsOver has a run end with an error of the table's, whose checkpoint is well.
func TestStatusKnowsTheErrorOfARunThatIsOver(t *testing.T) {
	w := newWorld(t, landing(t, 1, 3), "")
	w.mustRun(t)
	err := w.run(t.Context(), pipeline.BuildOptions{Wrap: failing("table", "_delta_log/"), Judge: func(error) batch.Verdict {
		return batch.Verdict{Kind: "away", Class: batch.Retrying, Remedy: "wait"}
	}})
	if !errors.Is(err, errAway) {
		t.Fatalf("run: %v", err)
	}
	s, err := w.status(t, nil)
	if err != nil || s.State != batch.Retrying || s.LastError.Kind != "away" || s.LastError.Remedy != "wait" || s.LastError.State != batch.Ended {
		t.Errorf("%+v, %v", s, err)
	}
	w.mustRun(t)
	if s, err = w.status(t, nil); err != nil || s.State != batch.OK || !s.LastError.Past {
		t.Errorf("after a run that worked: %+v, %v", s, err)
	}
}
