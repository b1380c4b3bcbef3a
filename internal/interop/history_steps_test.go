package interop

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/compaction/vacuum"
	"github.com/sluicedata/sluice/internal/seqtest"
	"github.com/sluicedata/sluice/internal/tabletest"
	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/table"
)

// history is a table whose partition column is p, and what it is to hold at each version that can be read.
type history struct {
	t      *testing.T
	random *rand.Rand
	path   string
	store  storage.Store
	table  *table.Table
	last   int64                    // version
	wants  map[int64]Content        // by versions
	flat   []string                 // columns of it that are not nested
	ofFlat map[int64]Content        // by versions, of these columns
	rows   map[int64][]arrow.Record // by versions, with the columns that they were appended with
	nextID int64
}

// newHistory makes a table without rows.
func newHistory(t *testing.T) *history {
	t.Helper()
	h := &history{t: t, random: rand.New(rand.NewPCG(13, 13)), path: filepath.Join(t.TempDir(), "history"), last: -1}
	h.wants, h.ofFlat, h.rows = map[int64]Content{}, map[int64]Content{}, map[int64][]arrow.Record{}
	h.open()
	fields := append([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "p", Type: arrow.BinaryTypes.String, Nullable: true},
	}, deltaTypes().Fields()...)
	for _, f := range fields {
		if !arrow.IsNested(f.Type.ID()) {
			h.flat = append(h.flat, f.Name)
		}
	}
	columns, err := schema.FromArrowSchema(arrow.NewSchema(fields, nil))
	h.must(err)
	h.must(h.table.Make(t.Context(), &table.Create{Schema: columns, PartitionColumns: []string{"p"}}))
	h.holds(nil)
	return h
}

func (h *history) open() {
	h.store = tabletest.Local(h.t, h.path)
	h.table = table.New(h.store, table.Options{})
}

// copied is the same table in another folder, to go its own way from here.
func (h *history) copied(name string) *history {
	h.t.Helper()
	c := *h
	c.path = filepath.Join(h.t.TempDir(), name)
	h.must(os.CopyFS(c.path, os.DirFS(h.path)))
	c.wants, c.ofFlat, c.rows = maps.Clone(h.wants), maps.Clone(h.ofFlat), maps.Clone(h.rows)
	c.open()
	return &c
}

func (h *history) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *history) snapshot(version int64) *table.Snapshot {
	h.t.Helper()
	s, err := h.table.Snapshot(h.t.Context(), version)
	h.must(err)
	return s
}

// holds is told what the versions that have come are to hold. The newest gets a log checkpoint.
func (h *history) holds(rows []arrow.Record) {
	h.t.Helper()
	s := h.snapshot(table.Newest)
	if s.Version() == h.last {
		h.t.Fatalf("no version has come after %d", h.last)
	}
	columns := s.Schema().ArrowSchema()
	records := slices.Clone(rows)
	for i := range records {
		records[i] = h.inColumns(columns, records[i])
	}
	ofFlat, err := ContentOf(columns, records, h.flat...)
	h.must(err)
	for content := contentOf(h.t, columns, records...); h.last < s.Version(); h.last++ {
		h.wants[h.last+1], h.ofFlat[h.last+1], h.rows[h.last+1] = content, ofFlat, rows
	}
	_, err = commitlog.New(h.store).Checkpoint(h.t.Context())
	h.must(err)
}

// inColumns is a record in later columns of its table: more of them, and of wider types.
func (h *history) inColumns(columns *arrow.Schema, record arrow.Record) arrow.Record {
	var values []arrow.Array
	for _, f := range columns.Fields() {
		at := record.Schema().FieldIndices(f.Name)
		if len(at) == 0 {
			values = append(values, array.MakeArrayOfNull(memory.DefaultAllocator, f.Type, int(record.NumRows())))
			continue
		}
		values = append(values, widenedTo(f.Type, record.Column(at[0])))
	}
	return array.NewRecord(columns, values, record.NumRows())
}

func widenedTo(to arrow.DataType, from arrow.Array) arrow.Array {
	if arrow.TypeEqual(from.DataType(), to) {
		return from
	}
	b := array.NewBuilder(memory.DefaultAllocator, to)
	defer b.Release()
	for i := range from.Len() {
		switch from := from.(type) {
		case *array.Int16:
			b.(*array.Int32Builder).AppendValues([]int32{int32(from.Value(i))}, []bool{from.IsValid(i)})
		case *array.Int32:
			b.(*array.Int64Builder).AppendValues([]int64{int64(from.Value(i))}, []bool{from.IsValid(i)})
		case *array.Float32:
			b.(*array.Float64Builder).AppendValues([]float64{float64(from.Value(i))}, []bool{from.IsValid(i)})
		}
	}
	return b.NewArray()
}

// append appends rows of values of every type, in each of the partitions.
func (h *history) append() {
	h.t.Helper()
	const rows = 60
	a, err := h.table.Begin(h.t.Context(), nil)
	h.must(err)
	columns := a.Schema().ArrowSchema()
	record := randomRecord(h.random, columns, rows)
	values := slices.Clone(record.Columns())
	ids, partitions := array.NewInt64Builder(memory.DefaultAllocator), array.NewStringBuilder(memory.DefaultAllocator)
	odd := []string{"plain", "a b", "é/😀", "100%=?"}
	for i := range rows {
		ids.Append(h.nextID)
		h.nextID++
		if i%5 < len(odd) {
			partitions.Append(odd[i%5])
		} else {
			partitions.AppendNull()
		}
	}
	values[0], values[1] = ids.NewArray(), partitions.NewArray()
	record = array.NewRecord(columns, values, rows)
	h.must(a.Write(h.t.Context(), record))
	_, err = a.Commit(h.t.Context(), table.Batch{ID: h.last})
	h.must(err)
	h.holds(append(slices.Clone(h.rows[h.last]), record))
}

func (h *history) set(property, value string) {
	h.t.Helper()
	_, err := h.table.ChangeProperties(h.t.Context(), table.Change{Set: map[string]string{property: value}})
	h.must(err)
	h.holds(h.rows[h.last])
}

// evolve changes the table's columns, as ALTER TABLE of other engines does.
func (h *history) evolve(operation string, change func(*schema.Type)) {
	h.t.Helper()
	head, err := h.table.Log().Refresh(h.t.Context())
	h.must(err)
	metadata := head.Metadata
	columns, err := schema.ParseJSON(metadata.SchemaString)
	h.must(err)
	change(columns)
	metadata.SchemaString = columns.JSON()
	h.commit(head.Version, commitlog.Commit{Metadata: &metadata, Info: &commitlog.CommitInfo{Operation: operation}})
	h.holds(h.rows[h.last])
}

// setV2 asks for log checkpoints of V2, as other engines do.
func (h *history) setV2() {
	h.t.Helper()
	head, err := h.table.Log().Refresh(h.t.Context())
	h.must(err)
	protocol, err := head.Protocol.With("v2Checkpoint")
	h.must(err)
	metadata := head.Metadata
	metadata.Configuration = maps.Clone(metadata.Configuration)
	metadata.Configuration["delta.checkpointPolicy"] = "v2"
	h.commit(head.Version, commitlog.Commit{Protocol: &protocol, Metadata: &metadata, Info: &commitlog.CommitInfo{Operation: "SET TBLPROPERTIES"}})
	h.holds(h.rows[h.last])
}

func (h *history) commit(readVersion int64, actions commitlog.Commit) {
	h.t.Helper()
	_, err := h.table.Log().Commit(h.t.Context(), commitlog.Transaction{ReadVersion: readVersion, Actions: actions})
	h.must(err)
}

// delete deletes the rows whose ids have a remainder by seven, of files that have no deletion vector, as an engine does that writes
// these: in the log, and in files of their own, by turns.
func (h *history) delete(remainder int64) {
	h.t.Helper()
	s := h.snapshot(table.Newest)
	files, err := s.FilesWhere(h.t.Context(), nil)
	h.must(err)
	adds := map[string]commitlog.Add{}
	for _, a := range seqtest.All(h.t, s.State().Files.All(h.t.Context())) {
		adds[a.Path] = a
	}
	actions := commitlog.Commit{Info: &commitlog.CommitInfo{Operation: "DELETE"}}
	gone := map[int64]bool{}
	for i := range files {
		add := adds[files[i].Path]
		if add.DeletionVector != nil {
			continue
		}
		var deleted []bool
		h.must(s.ScanFile(h.t.Context(), &files[i], func(record arrow.Record) error {
			for _, id := range record.Column(0).(*array.Int64).Int64Values() {
				deleted = append(deleted, id%7 == remainder)
				gone[id] = id%7 == remainder
			}
			return nil
		}))
		if !slices.Contains(deleted, true) {
			continue
		}
		actions.Removes = append(actions.Removes, commitlog.Remove{
			Path: add.Path, DeletionTimestamp: time.Now().UnixMilli(), DataChange: true, ExtendedFileMetadata: true,
			PartitionValues: add.PartitionValues, Size: &add.Size,
		})
		add.DataChange, add.Stats = true, strings.Replace(add.Stats, `"tightBounds":true`, `"tightBounds":false`, 1)
		if add.DeletionVector = tabletest.InlineVector(deleted); i%2 == 0 {
			add.DeletionVector, err = tabletest.PutVector(h.t.Context(), h.store, deleted)
			h.must(err)
		}
		actions.Adds = append(actions.Adds, add)
	}
	h.commit(s.Version(), actions)
	var left []arrow.Record
	for _, record := range h.rows[h.last] {
		for i, id := range record.Column(0).(*array.Int64).Int64Values() {
			if !gone[id] {
				left = append(left, record.NewSlice(int64(i), int64(i+1)))
			}
		}
	}
	h.holds(left)
}

// compact compacts the table, in the order of columns if there are any.
func (h *history) compact(by ...string) {
	h.t.Helper()
	compact(h.t, h.store, by...)
	h.holds(h.rows[h.last])
}

func (h *history) restore(version int64) {
	h.t.Helper()
	r, err := h.table.PlanRestore(h.t.Context(), h.snapshot(version))
	h.must(err)
	_, err = r.Put(h.t.Context())
	h.must(err)
	h.holds(h.rows[version])
}

// vacuum deletes what the newest version does not need, and what was removed less than a week before stays.
func (h *history) vacuum(now time.Time) {
	h.t.Helper()
	plan, err := vacuum.NewPlan(h.t.Context(), h.store, vacuum.Options{Now: now})
	h.must(err)
	found, err := plan.Run(h.t.Context(), nil)
	h.must(err)
	late := now.After(time.Now().AddDate(0, 0, 7))
	if late != (found.Removed.Files > 0) {
		h.t.Fatalf("a vacuum at %v deleted %d files", now, found.Removed.Files)
	}
	if late {
		h.forget(h.last)
	}
}

// cleanup deletes commits that have expired.
func (h *history) cleanup(now time.Time) {
	h.t.Helper()
	c, err := h.table.Log().PlanCleanup(h.t.Context(), commitlog.CleanupOptions{Now: now})
	h.must(err)
	_, err = c.Run(h.t.Context(), nil)
	h.must(err)
	if c.From < 0 {
		h.t.Fatalf("no commit was deleted: %s", c.Why)
	}
	h.forget(c.From)
}

// forget leaves out the versions before one.
func (h *history) forget(before int64) {
	gone := func(v int64, _ Content) bool { return v < before }
	maps.DeleteFunc(h.wants, gone)
	maps.DeleteFunc(h.ofFlat, gone)
}

// withoutCheckpoints is the same table without its log checkpoints.
func (h *history) withoutCheckpoints() *history {
	h.t.Helper()
	c := h.copied("commits")
	for _, pattern := range []string{"*.checkpoint*", "_last_checkpoint"} {
		found, err := filepath.Glob(filepath.Join(c.path, "_delta_log", pattern))
		h.must(err)
		for _, path := range found {
			h.must(os.Remove(path))
		}
	}
	return c
}

// versions is what to ask engines of these versions.
func (h *history) versions(from, to int64, refused map[string]string) Table {
	versions := maps.Clone(h.wants)
	maps.DeleteFunc(versions, func(v int64, _ Content) bool { return v < from || v > to })
	return Table{Path: h.path, Versions: versions, Refused: refused}
}

// only is what to ask an engine of some versions.
func (h *history) only(versions ...int64) Table {
	asked := Table{Path: h.path, Versions: map[int64]Content{}}
	for _, v := range versions {
		asked.Versions[v] = h.wants[v]
	}
	return asked
}
