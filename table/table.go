package table

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/memory"
	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/storage"
)

// Options are the settings of a Table. The zero value works for reading.
type Options struct {
	// AppID names the pipeline in the table's log (txn.appId). Empty: appends are not fenced.
	AppID string
	// EngineVersion is Sluice's version, for created_by and engineInfo.
	EngineVersion string
	// Memory is what Appends count in, and whose room bounds them; nil is an account of 128 MiB of the table's own. One
	// record more may be held.
	Memory *memory.Account
	// OpenFiles bounds the files that a partitioned Append keeps open over a whole batch; DefaultOpenFiles if 0.
	OpenFiles int
	// Parallelism is how many columns an Append encodes side by side; GOMAXPROCS if 0.
	Parallelism int
	// Now is the clock; time.Now if nil.
	Now func() time.Time
}

// DefaultOpenFiles is how many files an Append keeps open, unless its memory is too little for them.
const DefaultOpenFiles = 64

// ownMemory is that of a table which is given none, in bytes.
const ownMemory = 128 << 20

// Table is a Delta table in a folder. Safe for concurrent use; so are its Snapshots, but not its Appends.
type Table struct {
	store   storage.Store
	log     *commitlog.Log
	options Options
	kept    atomic.Pointer[kept] // nil while an append has it
	zstd    codec
}

// New returns the table whose folder is the store's root. It does no I/O, and the table need not exist.
func New(store storage.Store, options Options) *Table {
	if options.Memory == nil {
		options.Memory = memory.New(ownMemory).Open("write", ownMemory)
	}
	if options.OpenFiles <= 0 {
		options.OpenFiles = DefaultOpenFiles
	}
	if options.Parallelism <= 0 {
		options.Parallelism = runtime.GOMAXPROCS(0)
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	return &Table{store: store, log: commitlog.New(store), options: options, zstd: newZstd()}
}

// Log is the table's transaction log, for who has to see commits as they are.
func (t *Table) Log() *commitlog.Log { return t.log }

func (t *Table) engine() string {
	if t.options.EngineVersion == "" {
		return engineName
	}
	return engineName + " version " + t.options.EngineVersion
}

// State is what an appender knows of a table at a version.
type State struct {
	ID               string // a UUID, the same for all of the table's life
	Version          int64
	Schema           *schema.Type
	PartitionColumns []string
	Properties       map[string]string
	App              *App // the own appId's newest record; nil when the table has none
}

// TargetFileSize is how large the table wants its data files, in bytes.
func (s *State) TargetFileSize() (int64, error) { return targetSizeOf(s.Properties) }

// App is what a table's log says of a pipeline's newest batch.
type App struct {
	Batch        int64
	Version      int64     // of the table, that the batch came with; -1 when that commit has been cleaned out of the log
	LastUpdated  time.Time // zero when the log does not say
	UserMetadata string    // of that version's commitInfo
}

// Refresh looks for newer versions and returns the newest, or nil when there is no table. Errors are those of
// commitlog.Log.Refresh.
func (t *Table) Refresh(ctx context.Context) (*State, error) {
	head, err := t.log.Refresh(ctx)
	if errors.Is(err, commitlog.ErrNoTable) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if head.Apps[t.options.AppID].Version == commitlog.Unlocated {
		if head, err = t.log.Locate(ctx, t.options.AppID); err != nil {
			return nil, err
		}
	}
	return t.state(head), nil
}

func (t *Table) state(head *commitlog.Head) *State {
	s := &State{
		ID:               head.Metadata.ID,
		Version:          head.Version,
		Schema:           head.Schema(),
		PartitionColumns: slices.Clone(head.Metadata.PartitionColumns),
		Properties:       maps.Clone(head.Metadata.Configuration),
	}
	if app, ok := head.Apps[t.options.AppID]; ok {
		s.App = &App{Batch: app.Batch, Version: max(app.Version, -1), UserMetadata: app.UserMetadata}
		if app.LastUpdated != 0 {
			s.App.LastUpdated = time.UnixMilli(app.LastUpdated).UTC()
		}
	}
	return s
}
