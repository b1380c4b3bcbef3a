package commitlog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// others writes all that is not about files: one protocol, one metaData, and what is live of the rest.
func (p *checkpointPlan) others(s *sheet, state *State, sidecars []sidecar) error {
	var err error
	one := func(action string, fill func(r oneRow)) { err = errors.Join(err, s.one(action, fill)) }
	if p.v2 {
		one("checkpointMetadata", func(r oneRow) { r.int(state.Version, "version") })
	}
	one("protocol", func(r oneRow) { r.protocol(&state.Protocol) })
	one("metaData", func(r oneRow) { r.metadata(&state.Metadata) })
	for _, id := range slices.Sorted(maps.Keys(state.Apps)) {
		app := state.Apps[id]
		one("txn", func(r oneRow) {
			r.text(id, "appId")
			r.int(app.Batch, "version")
			if app.LastUpdated != 0 {
				r.int(app.LastUpdated, "lastUpdated")
			}
		})
	}
	for _, name := range slices.Sorted(maps.Keys(state.Domains)) {
		one("domainMetadata", func(r oneRow) {
			r.text(name, "domain")
			r.text(state.Domains[name].Configuration, "configuration")
			r.cell("removed").put(parquet.BooleanValue(false))
		})
	}
	for _, file := range sidecars {
		one("sidecar", func(r oneRow) {
			r.text(file.name, "path")
			r.int(file.bytes, "sizeInBytes")
			r.int(file.modified, "modificationTime")
		})
	}
	return err
}

// one writes a single row. What fill leaves out is null.
func (s *sheet) one(action string, fill func(oneRow)) error {
	if err := s.flush(); err != nil {
		return err
	}
	fill(oneRow{s, action})
	for _, c := range s.cells {
		if c.action == action && len(c.values) == 0 {
			c.nullAt(1) // the action is there, and no more
		}
	}
	if err := s.row(action); err != nil {
		return err
	}
	return s.flush()
}

// oneRow is a row of an action of which there are few.
type oneRow struct {
	sheet  *sheet
	action string
}

func (r oneRow) path(below []string) []string { return append([]string{r.action}, below...) }

func (r oneRow) cell(path ...string) *cell { return r.sheet.cell(r.path(path)...) }

func (r oneRow) int(v int64, path ...string) { r.cell(path...).put(parquet.Int64Value(v)) }

func (r oneRow) text(text string, path ...string) {
	r.cell(path...).put(parquet.ByteArrayValue(r.sheet.keep(text)))
}

// list leaves out one that is nil.
func (r oneRow) list(texts []string, path ...string) {
	if texts == nil {
		return
	}
	c := r.cell(append(path, "list", "element")...)
	if len(texts) == 0 {
		c.nullAt(c.def - 2)
	}
	for i, text := range texts {
		c.repeat(i, parquet.ByteArrayValue(r.sheet.keep(text)), c.def)
	}
}

func (r oneRow) texts(texts map[string]string, path ...string) {
	m := r.sheet.mapping(r.path(path)...)
	if len(texts) == 0 {
		m.empty()
	}
	for i, key := range slices.Sorted(maps.Keys(texts)) {
		value := texts[key]
		m.put(r.sheet, i, key, &value)
	}
}

func (r oneRow) protocol(p *Protocol) {
	r.cell("minReaderVersion").put(parquet.Int32Value(int32(p.MinReaderVersion)))
	r.cell("minWriterVersion").put(parquet.Int32Value(int32(p.MinWriterVersion)))
	r.list(p.ReaderFeatures, "readerFeatures")
	r.list(p.WriterFeatures, "writerFeatures")
}

func (r oneRow) metadata(m *Metadata) {
	r.text(m.ID, "id")
	if m.Name != "" {
		r.text(m.Name, "name")
	}
	if m.Description != "" {
		r.text(m.Description, "description")
	}
	r.text(m.Format.Provider, "format", "provider")
	r.texts(m.Format.Options, "format", "options")
	r.text(m.SchemaString, "schemaString")
	r.list(m.PartitionColumns, "partitionColumns")
	r.texts(m.Configuration, "configuration")
	if m.CreatedTime != 0 {
		r.int(m.CreatedTime, "createdTime")
	}
}

// fileCells are the leaves that adds and removes have both.
type fileCells struct {
	sheet                          *sheet
	action                         string
	path, dataChange               *cell
	size, time, base, since        *cell // time: modificationTime, deletionTimestamp
	kind, at, offset, length, rows *cell // of the deletion vector
	values                         mapCells
}

func (s *sheet) files(action, time string) *fileCells {
	at := func(path ...string) *cell { return s.cell(append([]string{action}, path...)...) }
	return &fileCells{
		sheet: s, action: action, path: at("path"), dataChange: at("dataChange"), size: at("size"), time: at(time), base: at("baseRowId"),
		since: at("defaultRowCommitVersion"), kind: at("deletionVector", "storageType"), at: at("deletionVector", "pathOrInlineDv"),
		offset: at("deletionVector", "offset"), length: at("deletionVector", "sizeInBytes"), rows: at("deletionVector", "cardinality"),
		values: s.mapping(action, "partitionValues"),
	}
}

// put fills in what both have. dataChange is false: a log checkpoint changes nothing.
func (c *fileCells) put(a *Add) {
	c.path.put(parquet.ByteArrayValue(c.sheet.keep(a.Path)))
	c.dataChange.put(parquet.BooleanValue(false))
	if a.Size == noSize {
		c.size.null()
	} else {
		c.size.put(parquet.Int64Value(a.Size))
	}
	c.time.put(parquet.Int64Value(a.ModificationTime))
	c.base.int(a.BaseRowID)
	c.since.int(a.DefaultRowCommitVersion)
	c.vector(a.DeletionVector)
	switch {
	case a.PartitionValues == nil:
		c.values.null()
	case len(a.PartitionValues) == 0:
		c.values.empty()
	}
	i := 0
	for key, value := range a.PartitionValues {
		c.values.put(c.sheet, i, key, value)
		i++
	}
}

func (c *fileCells) vector(v *DeletionVector) {
	if v == nil {
		for _, cell := range []*cell{c.kind, c.at, c.offset, c.length, c.rows} {
			cell.nullAt(1)
		}
		return
	}
	c.kind.put(parquet.ByteArrayValue(c.sheet.keep(v.StorageType)))
	c.at.put(parquet.ByteArrayValue(c.sheet.keep(v.PathOrInlineDv)))
	if v.Offset == nil {
		c.offset.null()
	} else {
		c.offset.put(parquet.Int32Value(*v.Offset))
	}
	c.length.put(parquet.Int32Value(v.SizeInBytes))
	c.rows.put(parquet.Int64Value(v.Cardinality))
}

// adder writes add rows.
type adder struct {
	*fileCells
	plan              *checkpointPlan
	tags              mapCells
	clustering, stats *cell // stats: nil when they are not written as JSON
	parsed            *statsShape
	partitions        []*cell
}

func (p *checkpointPlan) adder(s *sheet) *adder {
	w := &adder{
		fileCells: s.files("add", "modificationTime"), plan: p, tags: s.mapping("add", "tags"), clustering: s.cell("add", "clusteringProvider"),
		stats: s.cell("add", "stats"), parsed: p.parsed,
	}
	if p.parsed != nil {
		p.parsed.bind(s, "add", "stats_parsed")
	}
	for _, f := range p.partitions {
		w.partitions = append(w.partitions, s.cell("add", "partitionValues_parsed", f.name))
	}
	return w
}

func (w *adder) add(a *Add) error {
	w.put(a)
	if len(a.Tags) == 0 {
		w.tags.null()
	}
	i := 0
	for key, value := range a.Tags {
		w.tags.put(w.sheet, i, key, &value)
		i++
	}
	w.sheet.putText(w.clustering, a.ClusteringProvider)
	if w.stats != nil {
		w.sheet.putText(w.stats, a.Stats)
	}
	if w.parsed != nil {
		w.parsed.put(w.sheet, a.Stats)
	}
	for i, f := range w.plan.partitions {
		text := a.PartitionValues[f.name]
		if text == nil || *text == "" {
			w.partitions[i].null()
			continue
		}
		v, err := parquetText(f.typ, w.sheet.keep(*text))
		if err != nil {
			return fmt.Errorf("file %s: partition value %q of column %s is no %s, as %s=true wants it: %w; set that to false", a.Path, *text, f.name, f.typ, propStatsAsStruct, err)
		}
		w.partitions[i].put(v)
	}
	return w.sheet.row(w.action)
}

// remover writes remove rows.
type remover struct {
	*fileCells
	extended *cell
}

func (s *sheet) remover() *remover {
	return &remover{s.files("remove", "deletionTimestamp"), s.cell("remove", "extendedFileMetadata")}
}

// remove takes a tombstone as State keeps it.
func (w *remover) remove(a *Add) error {
	w.put(a)
	w.extended.put(parquet.BooleanValue(removeOf(a).ExtendedFileMetadata))
	return w.sheet.row(w.action)
}

// write writes the state's adds and tombstones that are next, at most so many, and says how many there were.
func (f *fileActions) write(ctx context.Context, s *sheet, limit int64) (n int64, err error) {
	add, remove := f.plan.adder(s), s.remover()
	for ; n < limit; n++ {
		if n%batchRows == 0 && ctx.Err() != nil {
			return n, ctx.Err()
		}
		if a, unread, ok := f.add(); ok {
			if err = unread; err == nil {
				err = add.add(&a)
			}
		} else if _, a, ok := f.removed(); ok {
			if f.turn == 0 {
				err = s.flush()
			}
			f.turn++
			err = errors.Join(err, remove.remove(&a))
		} else {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
