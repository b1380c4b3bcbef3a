package model

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/storage/storagetest"
	"github.com/sluicedata/sluice/table"
)

// world is a table and its model.
type world struct {
	tb          testing.TB
	random      *rand.Rand
	folder      string
	clock       time.Time // goes on between steps only
	handles     []*handle
	versions    []version
	asked       map[string]func(rows) rows // what each commit that was asked for does, by its userMetadata
	landed      map[string]int64           // those that are in the log, and their versions
	batches     map[string]int64           // the newest of each application
	vectors     map[string][]bool          // which rows of a file are deleted, by the unique id of the vector
	oldest      int64                      // the version that the log begins with after cleanups; earlier ones may be there still
	whole       time.Time                  // what was the newest version at this time or later, no vacuum has touched
	gone        map[string]bool            // files that were lost
	lost        map[int64]bool             // the rows of one that is in the newest version, so that it is not whole; nil: none is
	first       version                    // before the first commit
	source      *world                     // of which the table is a clone, or nil
	sourceFiles []string                   // in its folder then
	partitioned bool                       // so that it cannot be clustered
	nextID      int64
	trace       []string
}

// version is what the model knows of a version of the table.
type version struct {
	rows        rows
	files       map[string]bool // their paths in the log
	schema      string          // as the log has it
	clustering  string          // the columns, with commas
	appendsOnly bool            // it takes no removals of rows
	until       time.Time       // when the next one came; zero for the newest
}

// handle is what a process holds of the table.
type handle struct {
	app   string
	local storage.Store
	store storage.Store // the same, at the mercy of crash
	crash *storagetest.Crash
	table *table.Table
}

func (w *world) open(app string) *handle {
	h := &handle{app: app, local: local.New(w.folder), crash: &storagetest.Crash{At: -1, Delay: 3}}
	h.store = h.crash.Wrap(h.local)
	h.table = table.New(h.store, table.Options{AppID: app, Now: func() time.Time { return w.clock }, Parallelism: 1})
	return h
}

func (h *handle) close() { _ = h.local.Close() }

// kinds are the properties that a table may be made with; one is chosen of each.
var kinds = [][]map[string]string{
	{{}, {"delta.columnMapping.mode": "name"}, {"delta.columnMapping.mode": "id"}},
	{{}, {"delta.enableInCommitTimestamps": "true"}},
	{{}, {"sluice.parquet.encoding": "compact"}, {"sluice.parquet.encoding": "compatible"}},
	{{}, {"delta.enableDeletionVectors": "true"}},
	{{}, {"delta.isolationLevel": "WriteSerializable"}},
	{{}, {"delta.checkpoint.writeStatsAsStruct": "true"}, {"delta.checkpoint.writeStatsAsStruct": "true", "delta.checkpoint.writeStatsAsJson": "false"}},
	{{}, {"delta.targetFileSize": "2000"}},
	{{}, {"delta.enableTypeWidening": "true"}},
	{{}, {"sluice.parquet.pageSize": "1kb", "sluice.parquet.rowGroupSize": "2kb"}},
}

// newWorld is a folder without a table.
func newWorld(tb testing.TB, random *rand.Rand) *world {
	w := &world{
		tb: tb, random: random, folder: tb.TempDir(), clock: time.Now().Truncate(time.Second),
		asked: map[string]func(rows) rows{}, landed: map[string]int64{}, batches: map[string]int64{}, vectors: map[string][]bool{}, gone: map[string]bool{},
	}
	for i := range 3 {
		w.handles = append(w.handles, w.open(fmt.Sprintf("app %d", i)))
	}
	tb.Cleanup(func() {
		for _, h := range w.handles {
			h.close()
		}
	})
	return w
}

// makeWorld makes a table of a kind by the seed, or for every fourth seed a clone of such a table after some steps.
func makeWorld(tb testing.TB, seed uint64) *world {
	w := newWorld(tb, rand.New(rand.NewPCG(seed, 0)))
	w.tracef("seed %d", seed)
	w.create()
	if seed%4 != 2 {
		return w
	}
	for range 8 {
		w.step()
	}
	return w.clone()
}

// create makes the table.
func (w *world) create() {
	create := &table.Create{Properties: map[string]string{
		"delta.deletedFileRetentionDuration": "interval 1 hour", "delta.logRetentionDuration": "interval 1 hour",
	}}
	for _, choice := range kinds {
		maps.Copy(create.Properties, choice[w.random.IntN(len(choice))])
	}
	switch w.random.IntN(3) {
	case 0:
		create.ClusterBy = []string{"id", "day"}
	case 1:
		create.PartitionColumns, w.partitioned = []string{"day"}, true
	}
	var err error
	if create.Schema, err = schema.ParseDDL("struct<id:long,day:string,note:string,amount:decimal(10,2)>"); err != nil {
		w.tb.Fatal(err)
	}
	w.tracef("%v, partitioned by %q, clustered by %q", create.Properties, create.PartitionColumns, create.ClusterBy)
	w.first = version{rows: rows{}, files: map[string]bool{}, clustering: strings.Join(create.ClusterBy, ",")}
	if w.random.IntN(2) == 0 {
		err = w.handles[0].table.Make(w.tb.Context(), create)
	} else {
		err = (&step{world: w, handle: w.handles[0], create: create, inner: true}).append()
	}
	if err != nil {
		w.fatalf("%v", err)
	}
	w.settle()
	if w.random.IntN(2) == 0 {
		w.choosePolicy()
		w.settle()
	}
}

// choosePolicy has the table ask for log checkpoints of V2, as another engine does.
func (w *world) choosePolicy() {
	log := w.handles[0].table.Log()
	head, err := log.Refresh(w.tb.Context())
	if err != nil {
		w.tb.Fatal(err)
	}
	protocol, err := head.Protocol.With("v2Checkpoint")
	if err != nil {
		w.tb.Fatal(err)
	}
	metadata := head.Metadata
	metadata.Configuration = maps.Clone(metadata.Configuration)
	metadata.Configuration["delta.checkpointPolicy"] = "v2"
	_, err = log.Commit(w.tb.Context(), commitlog.Transaction{ReadVersion: head.Version, Actions: commitlog.Commit{
		Protocol: &protocol, Metadata: &metadata, Info: &commitlog.CommitInfo{Operation: "SET TBLPROPERTIES"},
	}})
	if err != nil {
		w.tb.Fatal(err)
	}
}

func (w *world) tracef(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf(format, args...))
}

func (w *world) fatalf(format string, args ...any) {
	w.tb.Helper()
	w.tb.Fatalf("%s\n%s", strings.Join(w.trace, "\n"), fmt.Sprintf(format, args...))
}

func (w *world) newest() int64 { return int64(len(w.versions) - 1) }

// intact says whether all that a version needs has to be there.
func (w *world) intact(v int64) bool {
	for path := range w.versions[v].files {
		if w.gone[path] {
			return false
		}
	}
	return v == w.newest() || w.versions[v].until.After(w.whole)
}

// settle looks at what has come into the log, and has the model follow.
func (w *world) settle() {
	h := w.open("")
	defer h.close()
	err := h.table.Log().Commits(w.tb.Context(), int64(len(w.versions)), -1, func(c *commitlog.Commit) error {
		if c.Version != int64(len(w.versions)) {
			return fmt.Errorf("version %d is missing", len(w.versions))
		}
		next, err := w.follow(c)
		if err != nil {
			return fmt.Errorf("version %d: %w", c.Version, err)
		}
		if len(w.versions) > 0 {
			w.versions[w.newest()].until = w.clock
		}
		w.versions = append(w.versions, next)
		if err := os.Chtimes(filepath.Join(w.folder, fmt.Sprintf("_delta_log/%020d.json", c.Version)), w.clock, w.clock); err != nil {
			return err
		}
		w.tracef("    version %d: %s %s", c.Version, c.Info.Operation, c.Info.UserMetadata)
		return nil
	})
	if err != nil && !errors.Is(err, commitlog.ErrNoTable) {
		w.fatalf("%v", err)
	}
}

// follow is the version that a commit makes of the newest one.
func (w *world) follow(c *commitlog.Commit) (next version, err error) {
	next = w.first
	if len(w.versions) > 0 {
		next = w.versions[w.newest()]
	}
	next.files = maps.Clone(next.files)
	for i := range c.Removes {
		delete(next.files, c.Removes[i].Path)
	}
	for i := range c.Adds {
		next.files[c.Adds[i].Path] = true
	}
	if c.Metadata != nil {
		next.schema = c.Metadata.SchemaString
		next.appendsOnly = c.Metadata.Configuration[appendOnly] == "true"
	}
	for _, txn := range c.Txns {
		if before, has := w.batches[txn.AppID]; has && txn.Version <= before {
			return next, fmt.Errorf("batch %d of %s comes after %d", txn.Version, txn.AppID, before)
		}
		w.batches[txn.AppID] = txn.Version
	}
	label := c.Info.UserMetadata
	change, asked := w.asked[label]
	at, twice := w.landed[label]
	switch {
	case twice:
		return next, fmt.Errorf("%s is in version %d already", label, at)
	case asked:
		w.landed[label] = c.Version
		next.rows = change(next.rows)
	case len(w.versions) == 0:
	case c.Info.Operation == "RESTORE":
		var to int64
		if _, err := fmt.Sscan(fmt.Sprint(c.Info.OperationParameters["version"]), &to); err != nil || to >= c.Version {
			return next, fmt.Errorf("it restores %v", c.Info.OperationParameters)
		}
		next.rows, next.clustering = w.versions[to].rows, w.versions[to].clustering
	case c.Info.Operation == "OPTIMIZE":
		if !c.Rearranges() {
			return next, errors.New("it says that it changes rows")
		}
	case c.Info.Operation == "FSCK" && w.lost != nil:
		next.rows = next.rows.without(w.lost)
		w.lost = map[int64]bool{}
	case c.Info.Operation == "CLUSTER BY", c.Info.Operation == "SET TBLPROPERTIES", c.Info.Operation == "UNSET TBLPROPERTIES":
		if len(c.Adds)+len(c.Removes) > 0 {
			return next, errors.New("it changes files")
		}
		if columns, changed := c.Info.OperationParameters["newClusteringColumns"]; changed {
			next.clustering = fmt.Sprint(columns)
		}
	default:
		return next, fmt.Errorf("nobody asked for %s %q", c.Info.Operation, label)
	}
	return next, nil
}
