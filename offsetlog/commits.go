package offsetlog

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sluicedata/sluice/storage"
)

const commitFolder = "commits/"

// lastCommit is the object commits/N: that batch N was in the table when a run ended cleanly.
type lastCommit struct {
	Checkpoint string `json:"checkpoint"` // the log's at that time
	Committed
}

// readCommits reads what ended runs have recorded. It comes before the plans are read, which thereby are at least as new.
func (l *Log) readCommits(ctx context.Context) error {
	newest := int64(-1)
	err := l.store.List(ctx, commitFolder, "", func(info storage.Info) error {
		if batch, ours := batchOf(commitFolder, info.Key); ours {
			l.commits, newest = append(l.commits, info.Key), batch
		}
		return nil
	})
	if err != nil || newest < 0 {
		return wrapEnd(err)
	}
	k := keyIn(commitFolder, newest)
	data, err := l.store.Get(ctx, k)
	if err != nil {
		return wrapEnd(err)
	}
	if err := json.Unmarshal(data, &l.ended); err != nil || l.ended.Batch != newest {
		return &CorruptError{l.store.URL(), k, fmt.Sprintf("it is damaged: %.80q", data), "restore it, or remove it: it only tells a table that has lost commits"}
	}
	return nil
}

// endedOf is what was recorded for the checkpoint that the newest plan is of, or nil.
func (l *Log) endedOf() *Committed {
	if newest := l.Newest(); newest != nil && l.ended.Checkpoint == newest.Checkpoint {
		return &l.ended.Committed
	}
	return nil
}

// checkCommits refuses a log that lacks the plan of a batch which was recorded as committed.
func (l *Log) checkCommits() error {
	ended := l.endedOf()
	if ended == nil || ended.Batch <= l.Newest().Batch {
		return nil
	}
	return l.corrupt(l.Newest().Batch+1, fmt.Sprintf("it is missing, though batch %d was committed as version %d", ended.Batch, ended.Version))
}

// Committed is the newest batch that the checkpoint knows to have been committed, by its newest plan or by the clean end of
// a run; nil when it knows of none.
func (l *Log) Committed() *Committed {
	newest, ended := l.Newest(), l.endedOf()
	switch {
	case newest == nil:
		return nil
	case ended != nil && (newest.Committed == nil || ended.Batch > newest.Committed.Batch):
		return ended
	default:
		return newest.Committed
	}
}

// End records what is committed when a run ends cleanly, in place of what was recorded before. A record of the same or of a
// later batch stays: then the table went back, and has not been brought forward. A death in between leaves no record, which
// only matters to a start that finds less in the table.
func (l *Log) End(ctx context.Context, committed Committed) error {
	if ended := l.endedOf(); ended != nil && (*ended == committed || ended.Batch > committed.Batch) {
		return nil
	}
	body, err := json.Marshal(lastCommit{l.Newest().Checkpoint, committed})
	if err != nil {
		return wrapEnd(err)
	}
	for _, k := range l.commits {
		if err := l.store.Delete(ctx, k); err != nil {
			return wrapEnd(err)
		}
	}
	_, err = storage.Put(ctx, l.store, keyIn(commitFolder, committed.Batch), append(body, '\n'))
	return wrapEnd(err)
}

func wrapEnd(err error) error {
	if err != nil {
		err = fmt.Errorf("record of the last clean end: %w", err)
	}
	return err
}
