package fsck

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/compaction/vacuum"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/table"
)

// workers is how many files are checked at a time.
const workers = 8

// Options say how much is looked at. The zero value is the log, the footers of files, and the folder.
type Options struct {
	// Deep reads all values of all files; see table.Snapshot.Check.
	Deep bool
	// Now is the time that the age of orphans is told from.
	Now time.Time
	// Progress, if set, hears of the files checked so far, of all. It is called from one goroutine at a time.
	Progress func(files, of int)
}

// Fault is something wrong with the table.
type Fault struct {
	Path    string // of the file: in the table's folder for one of the log, else as the log has it
	Missing bool   // the file, or that of its deletion vector, is not there
	Problem string
}

// Report is what a check has found.
type Report struct {
	Version   int64 // of the table; -1 when its log cannot be read
	Files     int   // checked
	Elsewhere int   // in another kind of store than the table, and not checked
	Bytes     int64
	Faults    []Fault      // of the log, then of files by path, then what keeps orphans from being told from others
	Orphans   vacuum.Count // files that no commit refers to; a vacuum deletes them
	Young     vacuum.Count // the same, but so young that they may be about to be committed
}

// FaultsError says that a table is not whole.
type FaultsError struct{}

func (*FaultsError) Error() string {
	return "it is not whole; restore what is damaged from a copy, or have what is missing removed from the table"
}

// Err is a *FaultsError if there are faults.
func (r *Report) Err() error {
	if len(r.Faults) == 0 {
		return nil
	}
	return &FaultsError{}
}

// Check looks at the table in a store. Errors are commitlog.ErrNoTable (wrapped), a *commitlog.UnsupportedError, or the
// storage's.
func Check(ctx context.Context, store storage.Store, o Options) (*Report, error) {
	r := &Report{Version: -1}
	t := table.New(store, table.Options{})
	err := t.Log().Verify(ctx, func(f commitlog.LogFault) {
		r.Faults = append(r.Faults, Fault{Path: f.Key, Problem: f.Problem})
	})
	if err != nil {
		return nil, err
	}
	s, err := t.Snapshot(ctx, table.Newest)
	if err != nil {
		return r, r.damage(err)
	}
	r.Version = s.Version()
	for _, step := range []func() error{
		func() error { return r.files(ctx, s, o) },
		func() error { return r.stillThere(ctx, t) },
		func() error { return r.orphans(ctx, store, o) },
	} {
		if err := r.damage(step()); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// damage makes a fault of an error by which the log is damaged, and returns any other.
func (r *Report) damage(err error) error {
	var corrupt *commitlog.CorruptError
	if !errors.As(err, &corrupt) {
		return err
	}
	r.tell(Fault{Path: corrupt.File(), Problem: corrupt.Reason})
	return nil
}

// tell adds a fault, unless its file has one already.
func (r *Report) tell(f Fault) {
	if !slices.ContainsFunc(r.Faults, func(told Fault) bool { return told.Path == f.Path }) {
		r.Faults = append(r.Faults, f)
	}
}

// files checks each file of a version.
func (r *Report) files(ctx context.Context, s *table.Snapshot, o Options) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var (
		running sync.WaitGroup
		mu      sync.Mutex
		faults  []Fault
		waiting = make(chan table.File)
	)
	done := func(f *table.File, found []error, err error) {
		mu.Lock()
		defer mu.Unlock()
		var elsewhere *commitlog.UnsupportedError
		if errors.As(err, &elsewhere) {
			r.Elsewhere++
		} else if err != nil {
			stop(err)
			return
		}
		r.Files++
		r.Bytes += f.Size
		for _, fault := range found {
			faults = append(faults, Fault{Path: f.Path, Missing: errors.As(fault, new(*table.MissingError)), Problem: fault.Error()})
		}
		if o.Progress != nil {
			o.Progress(r.Files, s.State().Files.Len())
		}
	}
	for range workers {
		running.Go(func() {
			for f := range waiting {
				found, err := s.Check(ctx, &f, o.Deep)
				done(&f, found, err)
			}
		})
	}
	err := feed(ctx, s, waiting)
	close(waiting)
	running.Wait()
	slices.SortStableFunc(faults, func(a, b Fault) int { return cmp.Compare(a.Path, b.Path) })
	r.Faults = append(r.Faults, faults...)
	return cmp.Or(context.Cause(ctx), err)
}

func feed(ctx context.Context, s *table.Snapshot, to chan<- table.File) error {
	for f, err := range s.Files(ctx) {
		if err != nil {
			return err
		}
		select {
		case to <- f:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// stillThere passes over what is missing because the table does not have it any more.
func (r *Report) stillThere(ctx context.Context, t *table.Table) error {
	if !slices.ContainsFunc(r.Faults, func(f Fault) bool { return f.Missing }) {
		return nil
	}
	state, err := t.Log().Files(ctx, table.Newest)
	if err != nil {
		return err
	}
	live := map[string]bool{}
	for k := range state.Files.Keys() {
		live[k.Path] = true
	}
	r.Faults = slices.DeleteFunc(r.Faults, func(f Fault) bool { return f.Missing && !live[commitlog.CanonicalPath(f.Path)] })
	return nil
}

// orphans counts what lies in the folder without a commit that refers to it. Where it cannot be told which files the table
// needs, none are: where a commit is missing or damaged, of whatever age, or has a path that cannot be decoded, which is a fault.
func (r *Report) orphans(ctx context.Context, store storage.Store, o Options) error {
	plan, err := vacuum.NewPlan(ctx, store, vacuum.Options{Now: o.Now})
	var unsupported *commitlog.UnsupportedError
	var path *vacuum.PathError
	switch {
	case errors.As(err, &unsupported):
		return nil
	case errors.As(err, &path):
		r.tell(Fault{Path: path.Path, Problem: path.Error()}) // a file of the newest version was told of
		return nil
	case err != nil:
		return err
	}
	found, err := plan.Orphans(ctx)
	if err != nil {
		return err
	}
	r.Orphans, r.Young = found.Orphans, found.Young
	return nil
}
