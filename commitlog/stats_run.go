package commitlog

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/sluicedata/sluice/parquetfile"
	"github.com/sluicedata/sluice/storage"
)

// statsRun are files whose statistics stay where they are, in a row group of a log checkpoint, until somebody asks for them: they are
// most of its bytes.
type statsRun struct {
	version  int64  // of the log checkpoint
	key      string // of its file
	group    int
	first, n uint32 // rows of Files: one for each add of the row group, in order
}

// runOf is the number of the run that a row belongs to, -1 for none.
func (f *Files) runOf(id uint32) int {
	i := sort.Search(len(f.runs), func(i int) bool { return f.runs[i].first > id }) - 1
	if i < 0 || id-f.runs[i].first >= f.runs[i].n {
		return -1
	}
	return i
}

// statsReader reads the statistics of rows in ascending order. Row groups of which none is asked for are not read.
type statsReader struct {
	files  *Files
	lean   bool // no more than numRecords is wanted of them
	listed listedStats
	id     uint32 // the row that comes next
	run    int    // of id, or the next one
	group  openGroup
}

func (f *Files) statsReader(lean bool) *statsReader {
	return &statsReader{files: f, lean: lean, listed: listedStats{list: &f.stats}}
}

// at is the text of a row behind those of the calls before. It is valid until the next call. Errors are a *CorruptError, of the log
// checkpoint that has them, and the storage's.
func (r *statsReader) at(ctx context.Context, id uint32) ([]byte, error) {
	for {
		if r.run < len(r.files.runs) && r.id >= r.files.runs[r.run].first {
			run := &r.files.runs[r.run]
			if id < run.first+run.n {
				text, err := r.inRun(ctx, run, id)
				if err != nil {
					return nil, run.unread(r.files.store, err)
				}
				return text, nil
			}
			r.id = run.first + run.n
			r.run++
			continue
		}
		text := r.listed.next()
		if r.id++; r.id > id {
			return text, nil
		}
	}
}

func (r *statsReader) inRun(ctx context.Context, run *statsRun, id uint32) (text []byte, err error) {
	defer parquetfile.Recover(&err)
	if err := r.group.open(ctx, r.files.store, run, r.lean); err != nil {
		return nil, err
	}
	for ; r.id <= id; r.id++ {
		if text, err = r.group.next(r.files, r.id); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// errReplaced says that a log checkpoint's file is not the one that the files were read from.
var errReplaced = errors.New("it has been replaced since the table was opened; open the table again")

// unread is the error of statistics that cannot be read.
func (run *statsRun) unread(store storage.Store, err error) error {
	var failed *storage.Error
	switch {
	case errors.Is(err, storage.ErrNotExist):
		return fmt.Errorf("read statistics of table %s: the log checkpoint of version %d has been deleted since the table was opened; open the table again: %w", store.URL(), run.version, err)
	case errors.Is(err, errReplaced):
		return fmt.Errorf("read statistics of table %s: %s: %w", store.URL(), run.key, err)
	case errors.As(err, &failed):
		return err
	}
	return &CorruptError{Table: store.URL(), Version: run.version, Key: run.key, Reason: fmt.Sprintf("statistics: %v", err)}
}

// close lets go of the file that is open, which has only been read.
func (r *statsReader) close() { _ = r.group.close() }

// openGroup is the row group that is being read for its statistics.
type openGroup struct {
	run    statsRun
	object *watchedObject
	file   *parquetfile.File
	group  *rowGroup
	stats  *groupStats
}

// open goes to the front of a run's row group, unless that is the one which is open.
func (g *openGroup) open(ctx context.Context, store storage.Store, run *statsRun, lean bool) error {
	if g.group != nil && g.run == *run {
		return nil
	}
	if g.object == nil || g.run.key != run.key {
		if err := g.close(); err != nil {
			return err
		}
		object, err := store.Open(ctx, run.key)
		if err != nil {
			return err
		}
		g.object = &watchedObject{Object: object}
		if g.file, err = parquetfile.Open(g.object, object.Size()); err != nil {
			return errors.Join(g.object.err, err)
		}
	} else if err := g.closeGroup(); err != nil {
		return err
	}
	g.run = *run
	if run.group >= len(g.file.RowGroups()) {
		return errReplaced
	}
	g.group = newRowGroup(g.file, run.group)
	g.stats = g.group.stats(lean)
	return nil
}

// next is the text of the next file, which has to be that of the row.
func (g *openGroup) next(files *Files, id uint32) (text []byte, err error) {
	path, text, err := g.stats.next()
	switch {
	case g.object.err != nil:
		return nil, g.object.err
	case err != nil:
		return nil, err
	case !files.isNamed(files.rows.at(id), path[localScheme(path):]):
		return nil, errReplaced
	}
	return text, nil
}

func (g *openGroup) closeGroup() error {
	if g.group == nil {
		return nil
	}
	err := g.group.close()
	g.group, g.stats = nil, nil
	return err
}

func (g *openGroup) close() error {
	err := g.closeGroup()
	if g.object != nil {
		err = errors.Join(err, g.object.Close())
	}
	*g = openGroup{}
	return err
}
