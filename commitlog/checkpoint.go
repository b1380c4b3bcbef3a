package commitlog

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluicedata/sluice/parquetfile"
	"github.com/sluicedata/sluice/storage"
)

// damagedError says that a log checkpoint cannot be read as it is. The version may be read from elsewhere.
type damagedError struct{ *CorruptError }

func (e *damagedError) Unwrap() error { return e.CorruptError }

// checkpointReader reads log checkpoints into a state: classic ones, those in parts, and those of V2 as Parquet or JSON
// with their sidecars. Tombstones are passed over unless the state keeps them: nothing before a checkpoint can bring their
// files back.
type checkpointReader struct {
	log   *Log
	state *State
	files bool // wanted too; else the sidecars and the columns of files are not read
	whole bool // all of the files' pages are read, also those of columns that nobody here asks for
}

// read reads a whole checkpoint. What is wrong with it is a *damagedError.
func (r *checkpointReader) read(ctx context.Context, c *checkpoint) error {
	var sidecars []string
	for _, key := range c.keys {
		more, err := r.part(ctx, c.version, key)
		if err != nil {
			return err
		}
		sidecars = append(sidecars, more...)
	}
	s := r.state
	switch {
	case s.Protocol.MinReaderVersion == 0:
		return r.damaged(c.version, c.keys[0], errors.New("it has no protocol action"))
	case s.Metadata.SchemaString == "":
		return r.damaged(c.version, c.keys[0], errors.New("it has no metaData action"))
	}
	if r.files {
		for _, name := range sidecars {
			key, err := PathDecode(name)
			if err != nil {
				return r.damaged(c.version, c.keys[0], err)
			}
			_, err = r.part(ctx, c.version, sidecarDir+key)
			if errors.Is(err, storage.ErrNotExist) {
				err = r.damaged(c.version, sidecarDir+key, errors.New("it is missing, though a log checkpoint refers to it"))
			}
			if err != nil {
				return err
			}
		}
	}
	s.Metadata = s.Metadata.complete()
	s.Version = c.version
	return nil
}

// check is read, and reads all that there is, as other readers may: statistics, and columns that have nothing but nulls.
func (r *checkpointReader) check(ctx context.Context, c *checkpoint) error {
	r.whole = true
	if err := r.read(ctx, c); err != nil {
		return err
	}
	for _, err := range r.state.Files.All(ctx) {
		var corrupt *CorruptError
		if errors.As(err, &corrupt) {
			return &damagedError{corrupt}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *checkpointReader) damaged(version int64, key string, err error) error {
	return &damagedError{&CorruptError{Table: r.log.store.URL(), Version: version, Key: key, Reason: err.Error()}}
}

// part reads one file of a checkpoint and returns the names of the sidecars that it refers to.
func (r *checkpointReader) part(ctx context.Context, version int64, key string) (sidecars []string, err error) {
	if isJSON(key) {
		return r.json(ctx, version, key)
	}
	object, err := r.log.store.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	watched := &watchedObject{Object: object}
	sidecars, err = r.parquet(watched, statsRun{version: version, key: key})
	closed := object.Close()
	switch {
	case watched.err != nil:
		return nil, watched.err
	case err != nil:
		return nil, r.damaged(version, key, err)
	}
	return sidecars, closed
}

// watchedObject remembers when the storage, not the file, was at fault.
type watchedObject struct {
	storage.Object
	err error
}

func (o *watchedObject) ReadAt(p []byte, off int64) (int, error) {
	n, err := o.Object.ReadAt(p, off)
	var failed *storage.Error
	if errors.As(err, &failed) {
		o.err = err
	}
	return n, err
}

// json reads a V2 checkpoint in JSON, whose lines are those of a commit.
func (r *checkpointReader) json(ctx context.Context, version int64, key string) ([]string, error) {
	body, err := r.log.store.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	d := replay
	if !r.files {
		d = summary
	}
	var p parser
	var corrupt *CorruptError
	if err := p.parse(version, body, d); errors.As(err, &corrupt) {
		return nil, r.damaged(version, key, errors.New(corrupt.Reason))
	}
	c := p.commit
	if c.Protocol != nil {
		r.state.Protocol = *c.Protocol
	}
	if c.Metadata != nil {
		r.state.Metadata = *c.Metadata
	}
	for _, t := range c.Txns {
		r.state.Apps[t.AppID] = unlocated(t)
	}
	r.state.apply(&p)
	return p.sidecars, nil
}

// unlocated is what a checkpoint tells of an application: neither the commit nor what it said.
func unlocated(t Txn) App {
	return App{Batch: t.Version, LastUpdated: t.LastUpdated, Version: Unlocated}
}

// parquet reads a checkpoint, a part of one, or a sidecar.
func (r *checkpointReader) parquet(object storage.Object, run statsRun) (sidecars []string, err error) {
	file, err := parquetfile.Open(object, object.Size())
	if err != nil {
		return nil, err
	}
	defer parquetfile.Recover(&err)
	for i := range file.RowGroups() {
		g := newRowGroup(file, i)
		err := errors.Join(r.rowGroup(g, run, &sidecars), g.close())
		if err != nil {
			return nil, fmt.Errorf("row group %d: %w", i, err)
		}
	}
	if r.whole {
		err = readPages(file)
	}
	return sidecars, err
}

// readPages reads every value of a file.
func readPages(file *parquetfile.File) error {
	for group := range file.RowGroups() {
		for leaf, column := range file.Metadata().RowGroups[group].Columns {
			cursor := file.Cursor(group, leaf)
			err := errors.Join(cursor.Drain(), cursor.Close())
			if err != nil {
				return fmt.Errorf("row group %d: column %s: %w", group, strings.Join(column.MetaData.PathInSchema, "."), err)
			}
		}
	}
	return nil
}

func (r *checkpointReader) rowGroup(g *rowGroup, run statsRun, sidecars *[]string) error {
	s := r.state
	for _, action := range []struct {
		name, key string
		take      func(actionRow) error
	}{
		{"protocol", "minReaderVersion", func(a actionRow) (err error) { s.Protocol, err = a.protocol(); return err }},
		{"metaData", "schemaString", func(a actionRow) (err error) { s.Metadata, err = a.metadata(); return err }},
		{"txn", "appId", func(a actionRow) error {
			t, err := a.txn()
			s.Apps[t.AppID] = unlocated(t)
			return err
		}},
		{"domainMetadata", "domain", func(a actionRow) error {
			d, err := a.domain()
			applyDomains(s.Domains, []DomainMetadata{d})
			return err
		}},
		{"sidecar", "path", func(a actionRow) error {
			path, _ := a.text("path")
			*sidecars = append(*sidecars, path)
			return nil
		}},
	} {
		rows, err := g.action(action.name, action.key)
		if err != nil {
			return fmt.Errorf("%s: %w", action.name, err)
		}
		for _, a := range rows {
			if err := action.take(a); err != nil {
				return fmt.Errorf("%s: %w", action.name, err)
			}
		}
	}
	if !r.files {
		return nil
	}
	if err := g.adds(s.Files, run); err != nil {
		return fmt.Errorf("add: %w", err)
	}
	if s.removed == nil {
		return nil
	}
	if err := g.removes(s); err != nil {
		return fmt.Errorf("remove: %w", err)
	}
	return nil
}
