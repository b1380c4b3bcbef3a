package model

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/compaction/fsck"
	"github.com/sluicedata/sluice/compaction/vacuum"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/table"
)

// check compares the table with the model: the newest version, and others and all of the table at times.
func (w *world) check() {
	h := w.open("")
	defer h.close()
	w.checkVersion(h, table.Newest)
	if w.random.IntN(2) == 0 {
		w.checkVersion(h, w.random.Int64N(w.newest()+1))
		w.checkVersion(h, max(0, w.newest()-1-w.random.Int64N(4)))
	}
	if w.random.IntN(3) == 0 {
		w.checkHistory(h)
		w.checkWhole(h)
	}
}

func (w *world) checkWhole(h *handle) {
	report, err := fsck.Check(w.tb.Context(), h.store, fsck.Options{Deep: w.random.IntN(2) == 0, Now: w.clock})
	if err != nil {
		w.fatalf("fsck: %v", err)
	}
	if report.Err() != nil || report.Version != w.newest() {
		w.fatalf("fsck: version %d, %+v", report.Version, report.Faults)
	}
}

func (w *world) checkVersion(h *handle, v int64) {
	s, err := h.table.Snapshot(w.tb.Context(), v)
	if v != table.Newest && v < w.oldest && errors.Is(err, commitlog.ErrNoVersion) {
		return
	}
	if err != nil {
		w.fatalf("version %d: %v", v, err)
	}
	if v == table.Newest {
		v = w.newest()
	}
	if s.Version() != v {
		w.fatalf("version %d is read as %d", v, s.Version())
	}
	if got := w.clusteringOf(s); got != w.versions[v].clustering {
		w.fatalf("version %d is clustered by %q instead of %q", v, got, w.versions[v].clustering)
	}
	want := w.versions[v].rows
	w.checkRows(s, want, table.ScanOptions{})
	w.checkCounts(s, len(want))
	from := w.random.Int64N(w.nextID + 1)
	to := from + w.random.Int64N(40)
	where, err := s.Where(fmt.Sprintf("id >= %d AND id < %d", from, to))
	if err != nil {
		w.fatalf("version %d: %v", v, err)
	}
	w.checkRows(s, want.between(from, to), table.ScanOptions{Where: where})
}

func (w *world) checkRows(s *table.Snapshot, want rows, options table.ScanOptions) {
	w.tb.Helper()
	got, err := scan(w.tb.Context(), s, options)
	switch gone := errors.Is(err, storage.ErrNotExist) || errors.As(err, new(*table.MissingError)); {
	case gone && !w.intact(s.Version()):
	case err != nil:
		w.fatalf("scan version %d: %v", s.Version(), err)
	default:
		if fault := want.differs(got); fault != "" {
			w.fatalf("version %d: %s", s.Version(), fault)
		}
	}
}

func (w *world) checkCounts(s *table.Snapshot, want int) {
	sum := int64(0)
	for f, err := range s.Files(w.tb.Context()) {
		if err != nil || f.Rows < 0 {
			w.fatalf("version %d: %s has %d rows, %v", s.Version(), f.Path, f.Rows, err)
		}
		sum += f.Rows
	}
	if sum != int64(want) {
		w.fatalf("version %d: statistics count %d rows instead of %d", s.Version(), sum, want)
	}
}

func (w *world) checkHistory(h *handle) {
	next := int64(-1)
	err := h.table.History(w.tb.Context(), func(c *commitlog.Commit) error {
		if next < 0 && c.Version <= w.oldest {
			next = c.Version
		}
		if c.Version != next {
			return fmt.Errorf("version %d comes instead of %d", c.Version, next)
		}
		next++
		return nil
	})
	if err != nil || next != w.newest()+1 {
		w.fatalf("history: %d versions, %v", next, err)
	}
}

// checkLog writes a log checkpoint and cleans up all before it.
func (w *world) checkLog() {
	h := w.open("")
	defer h.close()
	newest := w.newest()
	_, err := h.table.Log().Checkpoint(w.tb.Context())
	w.clock = w.clock.AddDate(0, 0, 2)
	if err == nil {
		err = (&step{world: w, handle: h}).cleanup()
	}
	if err != nil || w.oldest != newest {
		w.fatalf("cleanup: version %d is the oldest, %v", w.oldest, err)
	}
	w.checkVersion(h, table.Newest)
	w.checkHistory(h)
	w.checkWhole(h)
}

// checkFolder sweeps and vacuums for good, and compares the folder with the newest version.
func (w *world) checkFolder() {
	h := w.open("")
	defer h.close()
	if _, err := h.table.Sweep(w.tb.Context()); err != nil {
		w.fatalf("sweep: %v", err)
	}
	w.clock = w.clock.AddDate(1, 0, 0)
	plan, err := vacuum.NewPlan(w.tb.Context(), h.store, vacuum.Options{Now: w.clock})
	if err == nil {
		w.whole = plan.Before
		_, err = plan.Run(w.tb.Context(), nil)
	}
	if err != nil {
		w.fatalf("vacuum: %v", err)
	}
	w.checkVersion(h, table.Newest)
	w.checkWhole(h)
	state, err := h.table.Log().Files(w.tb.Context(), table.Newest)
	if err != nil {
		w.fatalf("%v", err)
	}
	needed := map[string]bool{}
	need := func(path string) {
		if at, err := commitlog.PlaceOf(h.store.URL(), path); err != nil {
			w.fatalf("%v", err)
		} else if at.Root == "" {
			needed[commitlog.PathEncode(at.Key)] = true
		}
	}
	for path, vector := range state.Files.Paths() {
		need(path)
		if vector != nil {
			if path, err := vector.Path(); err != nil {
				w.fatalf("%v", err)
			} else if path != "" {
				need(path)
			}
		}
	}
	if found := w.dataFiles(); !slices.Equal(found, slices.Sorted(maps.Keys(needed))) {
		w.fatalf("in the folder are %q, needed are %q", found, slices.Sorted(maps.Keys(needed)))
	}
}

// dataFiles are the paths of what lies in the table's folder, in order, without its log.
func (w *world) dataFiles() (paths []string) {
	err := filepath.WalkDir(w.folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		key, err := filepath.Rel(w.folder, name)
		if err == nil && !commitlog.InLog(key) && !strings.HasSuffix(key, "/.lock") {
			paths = append(paths, commitlog.PathEncode(key))
		}
		return err
	})
	if err != nil {
		w.fatalf("%v", err)
	}
	slices.Sort(paths)
	return paths
}
