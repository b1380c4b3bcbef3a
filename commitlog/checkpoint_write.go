package commitlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/storage"
)

// Table properties that say what a log checkpoint has in it.
const (
	propCheckpointPolicy = "delta.checkpointPolicy"
	propStatsAsJSON      = "delta.checkpoint.writeStatsAsJson"
	propStatsAsStruct    = "delta.checkpoint.writeStatsAsStruct"
)

const (
	// sidecarActions is how many adds and removes a sidecar has, at most; with no more than inlineActions of them there is none.
	sidecarActions = 1 << 19
	inlineActions  = 1 << 12
)

// Checkpoint is a log checkpoint that has been written, or was there already.
type Checkpoint struct {
	Version  int64
	There    bool  // it was there already; nothing else is known of it
	Files    int64 // adds in it
	Removed  int64 // tombstones in it
	Actions  int64 // all of its rows
	Bytes    int64 // of all its files
	Sidecars int
}

// Checkpoint writes a log checkpoint of the newest version that the log's head knows, and then has _last_checkpoint name it. The
// state is replayed for it, and written as it comes. It can be killed at any point and run any number of times side by side: a
// log checkpoint is put in one piece, if absent, and one of the same version says the same, whoever writes it. Errors are those of
// Load, an *UnsupportedError for features that decide what a log checkpoint has in it, and the storage's.
func (l *Log) Checkpoint(ctx context.Context) (Checkpoint, error) {
	h := l.Head()
	if h == nil {
		var err error
		if h, err = l.Load(ctx); err != nil {
			return Checkpoint{}, err
		}
	}
	done, err := l.checkpoint(ctx, h)
	if err != nil {
		return done, fmt.Errorf("write a log checkpoint of version %d: %w", h.Version, err)
	}
	l.shorten(ctx, done.said())
	return done, nil
}

// said is what _last_checkpoint says of it.
func (c *Checkpoint) said() lastCheckpoint {
	return lastCheckpoint{c.Version, c.Actions, c.Bytes, c.Files}
}

func (l *Log) checkpoint(ctx context.Context, h *Head) (Checkpoint, error) {
	done := Checkpoint{Version: h.Version}
	if err := h.maintainable("writing log checkpoints of"); err != nil {
		return done, err
	}
	e, err := l.list(ctx, h.Version)
	if err != nil {
		return done, err
	}
	if slices.ContainsFunc(e.checkpoints, func(c checkpoint) bool { return c.version == h.Version }) {
		done.There = true
		return done, nil
	}
	keep, err := h.DeletedFileRetention()
	if err != nil {
		return done, err
	}
	state, err := l.FilesAndRemoved(ctx, h.Version, l.now().Add(-keep))
	if err != nil {
		return done, err
	}
	plan, err := planCheckpoint(state)
	if err != nil {
		return done, err
	}
	if err := l.writeCheckpoint(ctx, plan, &done); err != nil || done.There {
		return done, err
	}
	return done, l.point(ctx, &done)
}

// checkpointPlan is what a log checkpoint of a state has in it.
type checkpointPlan struct {
	state      *State
	v2         bool
	json       bool        // statistics as JSON
	parsed     *statsShape // and as a struct; nil: not
	partitions []storedColumn
}

// storedColumn is a column by the name that files know it by.
type storedColumn struct {
	name string
	typ  *schema.Type
}

func planCheckpoint(s *State) (*checkpointPlan, error) {
	properties := s.Metadata.Configuration
	p := &checkpointPlan{
		state: s, json: !strings.EqualFold(properties[propStatsAsJSON], "false"),
		v2: s.Protocol.Supports(featureV2Checkpoint) && strings.EqualFold(properties[propCheckpointPolicy], "v2"),
	}
	if !isTrue(properties[propStatsAsStruct]) {
		return p, nil
	}
	choice, err := StatsColumnsOf(properties)
	if err != nil {
		return nil, err
	}
	data := &schema.Type{Kind: schema.Struct}
	for _, f := range s.Schema().Fields {
		if slices.Contains(s.Metadata.PartitionColumns, f.Name) {
			p.partitions = append(p.partitions, storedColumn{f.StoredName(), f.Type})
		} else {
			data.Fields = append(data.Fields, f)
		}
	}
	p.parsed = statsShapeOf(data, choice.With(DottedPaths(s.clustering.columns)).Of(data))
	return p, nil
}

// fileActions are a state's adds and tombstones, one after the other.
type fileActions struct {
	plan    *checkpointPlan
	add     func() (Add, error, bool)
	removed func() (uint32, Add, bool)
	stop    []func()
	turn    int // tombstones so far
}

func (p *checkpointPlan) fileActions(ctx context.Context) *fileActions {
	f := &fileActions{plan: p}
	var stopAdds, stopRemoved func()
	f.add, stopAdds = iter.Pull2(p.state.Files.All(ctx))
	f.removed, stopRemoved = iter.Pull2(p.state.removed.adds())
	f.stop = []func(){stopAdds, stopRemoved}
	return f
}

func (f *fileActions) close() {
	for _, stop := range f.stop {
		stop()
	}
}

// sidecar is a file of a V2 checkpoint that has the adds and removes.
type sidecar struct {
	name            string
	bytes, modified int64 // ms since the epoch
}

// writeCheckpoint writes the files of a log checkpoint, the one that refers to the others last.
func (l *Log) writeCheckpoint(ctx context.Context, p *checkpointPlan, done *Checkpoint) error {
	done.Files, done.Removed = int64(p.state.Files.Len()), int64(p.state.removed.Len())
	files := p.fileActions(ctx)
	defer files.close()
	var sidecars []sidecar
	key := checkpointKey(done.Version)
	if p.v2 {
		key = fmt.Sprintf("%s%020d.checkpoint.%s.parquet", logDir, done.Version, uuid.NewString())
		if left := done.Files + done.Removed; left > inlineActions {
			for left > 0 {
				s, n, err := l.writeSidecar(ctx, files, done)
				if err != nil {
					return err
				}
				sidecars = append(sidecars, s)
				left -= n
			}
		}
	}
	done.Sidecars = len(sidecars)
	return l.writeSheet(ctx, key, done, func(w io.Writer) (int64, error) {
		s := newSheet(w, p.checkpointNode())
		if err := p.others(s, p.state, sidecars); err != nil {
			return 0, err
		}
		if len(sidecars) == 0 {
			if _, err := files.write(ctx, s, math.MaxInt64); err != nil {
				return 0, err
			}
		}
		err := s.close()
		return s.rows, err
	})
}

func (l *Log) writeSidecar(ctx context.Context, files *fileActions, done *Checkpoint) (sidecar, int64, error) {
	name := uuid.NewString() + ".parquet"
	var n int64
	before := done.Bytes
	err := l.writeSheet(ctx, sidecarDir+name, done, func(w io.Writer) (_ int64, err error) {
		s := newSheet(w, files.plan.sidecarNode())
		if n, err = files.write(ctx, s, sidecarActions); err == nil {
			err = s.close()
		}
		return s.rows, err
	})
	return sidecar{name, done.Bytes - before, l.now().UnixMilli()}, n, err
}

// writeSheet stages and publishes one file. If the key has an object by then, done.There is set: another has written the same.
func (l *Log) writeSheet(ctx context.Context, key string, done *Checkpoint, write func(io.Writer) (rows int64, err error)) error {
	staged, err := l.store.Stage(ctx, key)
	if err != nil {
		return err
	}
	w := &countedWriter{to: staged}
	rows, err := write(w)
	if err == nil {
		err = staged.Publish(ctx)
	}
	switch {
	case err == nil:
	case errors.Is(err, storage.ErrExist):
		done.There, err = true, nil
	case w.failed == nil && l.isThere(ctx, key):
		err = nil // the answer was lost, or another has written the same
	}
	finish := context.WithoutCancel(ctx)
	if err != nil || done.There {
		return errors.Join(err, staged.Abort(finish))
	}
	done.Actions += rows
	done.Bytes += w.bytes
	return staged.Settle(finish)
}

func (l *Log) isThere(ctx context.Context, key string) bool {
	_, err := l.store.Stat(ctx, key)
	return err == nil
}

type countedWriter struct {
	to     io.Writer
	bytes  int64
	failed error
}

func (w *countedWriter) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	w.bytes += int64(n)
	if err != nil {
		w.failed = err
	}
	return n, err
}

// maxPoints is how often a writer of _last_checkpoint yields to others before it leaves it to them.
const maxPoints = 3

// point has _last_checkpoint name the log checkpoint, unless it names a later one. Objects are not replaced in place: for a moment
// there is none, which readers take for a table without hint.
func (l *Log) point(ctx context.Context, c *Checkpoint) error {
	body, err := json.Marshal(c.said())
	if err != nil {
		return err
	}
	for range maxPoints {
		named, err := l.hint(ctx)
		if err != nil {
			return err
		}
		if named.Version > c.Version {
			return nil
		}
		// Hadoop keeps a checksum beside a local file that it has written, and would find the new one damaged.
		for _, key := range []string{logDir + "._last_checkpoint.crc", hintKey} {
			if err := l.store.Delete(ctx, key); err != nil {
				return err
			}
		}
		outcome, err := l.store.PutIfAbsent(ctx, hintKey, append(body, '\n'))
		if outcome != storage.Exists {
			return err
		}
	}
	return nil
}
