package commitlog

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
)

const propCheckpointInterval = "delta.checkpointInterval"

const (
	// checkpointCommits and checkpointShare say when a log checkpoint is worth writing: when there are so many commits behind the
	// newest one, and their files are as large as this part of it. Then a reader reads little more than the state itself, and all
	// the log checkpoints of a table together are as large as the commits in it a bounded number of times.
	checkpointCommits = 100
	checkpointShare   = 8
)

// tail is what a reader of a version reads behind the newest log checkpoint before it that is known of.
type tail struct {
	commits int64
	bytes   int64          // of their files
	last    lastCheckpoint // that log checkpoint; its sizes are 0 where they are not known, and all is when there is none
}

// due tells whether a log checkpoint is worth writing. The table's own interval, in commits, goes before what it costs.
func (t tail) due(properties map[string]string) (bool, error) {
	text, set := properties[propCheckpointInterval]
	if !set {
		return t.commits >= checkpointCommits && t.bytes >= t.last.SizeInBytes/checkpointShare, nil
	}
	interval, err := strconv.ParseInt(text, 10, 64)
	if err != nil || interval < 1 {
		return false, fmt.Errorf("%s is %q, which is no number of commits; set it to one above 0, or unset it", propCheckpointInterval, text)
	}
	return t.commits >= interval, nil
}

// behind is the tail up to a version behind a log checkpoint, unless that is no newer than the one it knows of. The commits count by
// their mean size.
func (t tail) behind(last lastCheckpoint, version int64) tail {
	left := version - last.Version
	if left < 0 || left >= t.commits {
		return t
	}
	last.Size = cmp.Or(last.Size, t.last.Size)
	last.SizeInBytes = cmp.Or(last.SizeInBytes, t.last.SizeInBytes)
	return tail{left, t.bytes / t.commits * left, last}
}

// shorten has the head know of a log checkpoint, and returns it; nil when there is no table, or ctx ends first.
func (l *Log) shorten(ctx context.Context, last lastCheckpoint) *Head {
	if l.acquire(ctx) != nil {
		return nil
	}
	defer l.release()
	h := l.Head()
	if h == nil {
		return nil
	}
	n := *h
	n.tail = h.tail.behind(last, h.Version)
	l.moveTo(&n)
	return &n
}

// CheckpointDue tells whether a log checkpoint of the newest version that the head knows is worth writing: by what there is to be
// read behind the last one, or by delta.checkpointInterval if the table has that. As long as none is, that costs nothing; else
// others' log checkpoints are looked for first, by _last_checkpoint. Errors are that of a property that cannot be obeyed, and the
// storage's.
func (l *Log) CheckpointDue(ctx context.Context) (bool, error) {
	h := l.Head()
	if h == nil {
		return false, nil
	}
	due, err := h.tail.due(h.Metadata.Configuration)
	if err != nil || !due {
		return false, err
	}
	named, err := l.hint(ctx)
	if err != nil {
		return false, err
	}
	if named.Version > 0 {
		if h = l.shorten(ctx, named); h == nil {
			return false, ctx.Err()
		}
	}
	return h.tail.due(h.Metadata.Configuration)
}

const (
	// actionMemory is what an add or a tombstone takes in the state that a log checkpoint is written from, at most, in bytes.
	actionMemory = 256
	// sheetMemory is what the file that is being written takes at least, and rowGroupMemory what its row group adds to that at most.
	sheetMemory    = 4 << 20
	rowGroupMemory = 32 << 20
)

// StateMemory is about how many bytes the list of the table's files at the head's version takes, at most. Statistics in a log checkpoint,
// which are most of its bytes, are left there; where it is not known how many actions it has, they count.
func (h *Head) StateMemory() int64 {
	return cmp.Or(h.tail.last.Size*actionMemory, h.tail.last.SizeInBytes) + h.tail.bytes
}

// CheckpointMemory is about how many bytes writing a log checkpoint of the head's version takes, at most.
func (h *Head) CheckpointMemory() int64 {
	state := h.StateMemory()
	rows := max(state, h.tail.last.SizeInBytes+h.tail.bytes) // they have the statistics
	return state + sheetMemory + min(rows+rows/2, rowGroupMemory)
}
