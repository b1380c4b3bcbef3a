package model

import (
	"os"
	"path/filepath"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/compaction/fsck"
	"github.com/sluicedata/sluice/table"
)

// repair loses a file of the newest version, and has the table go on without its rows. A second process does it again: what the first
// one has left undone, and nothing of what it has done.
func (s *step) repair() error {
	if s.inner {
		return nil
	}
	of, err := s.table.Snapshot(s.tb.Context(), table.Newest)
	if err != nil {
		return err
	}
	files, err := of.FilesWhere(s.tb.Context(), nil)
	if err != nil || len(files) == 0 {
		return err
	}
	f := &files[s.random.IntN(len(files))]
	lost := map[int64]bool{}
	err = of.ScanFile(s.tb.Context(), f, func(record arrow.Record) error {
		rowsOf(record, func(id int64, _ string) { lost[id] = true })
		return nil
	})
	if err != nil {
		return err
	}
	found := s.lose(f.Path, lost)
	s.version, err = s.removeMissing(s.handle)
	s.crash.Deliver()
	second := s.open("")
	defer second.close()
	_, again := s.removeMissing(second)
	s.settle()
	s.lost = nil
	switch {
	case again != nil && s.keepsRows(again):
		s.excused = true
		found()
		return again
	case again != nil:
		s.fatalf("repair again: %v", again)
	}
	return err
}

// lose takes a file with rows of these ids away. It is back when found is called.
func (w *world) lose(path string, ids map[int64]bool) (found func()) {
	at, err := commitlog.PlaceOf(w.handles[0].store.URL(), path)
	if err != nil {
		w.fatalf("%v", err)
	}
	name := filepath.Join(w.folder, at.Key)
	if at.Root != "" {
		name = at.Root + at.Key
	}
	w.tracef("    %s is lost", path)
	away := filepath.Join(w.tb.TempDir(), "lost")
	if err := os.Rename(name, away); err != nil {
		w.fatalf("%v", err)
	}
	w.gone[path], w.lost = true, ids
	return func() {
		delete(w.gone, path)
		if err := os.Rename(away, name); err != nil {
			w.fatalf("%v", err)
		}
	}
}

// removeMissing is what fsck --remove-missing does.
func (s *step) removeMissing(h *handle) (version int64, err error) {
	r, err := fsck.Check(s.tb.Context(), h.store, fsck.Options{Now: s.clock})
	if err != nil {
		return -1, err
	}
	for _, f := range r.Faults {
		if !f.Missing || !s.gone[f.Path] {
			s.fatalf("fsck: %+v", f)
		}
	}
	s.between()
	removed, err := fsck.RemoveMissing(s.tb.Context(), h.store, r, table.Options{}, s.clock)
	return removed.Version, err
}
