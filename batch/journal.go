package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/retry"
)

// Class says whether an error passes without anybody's doing.
type Class string

const (
	// Retrying errors pass by themselves: the run waits, or the next start finds them gone.
	Retrying Class = "retrying"
	// NeedsYou is the class of errors that stay until somebody removes their cause.
	NeedsYou Class = "needs_you"
)

// Verdict is what an error means to an operator.
type Verdict struct {
	Kind   string `json:"kind"` // one of a bounded number of words, such as disk_full
	Class  Class  `json:"class"`
	Remedy string `json:"remedy"` // what to do
}

// State is what became of an error.
type State string

const (
	// Ended: the run ended with it.
	Ended State = "ended"
	// Waiting: a run waits for it to pass. It says so again every few minutes while it lives.
	Waiting State = "waiting"
	// Over: the pipeline has worked since.
	Over State = "over"
)

// LastError is the newest entry of the checkpoint's journal of errors.
type LastError struct {
	Time  time.Time `json:"time"`
	Since time.Time `json:"since"` // of the first in an unbroken row of errors of its kind
	State State     `json:"state"`
	Error string    `json:"error"`
	Verdict
	// Committed is the newest batch that was then in the table: -1 when there was none, -2 when that was not known.
	Committed int64 `json:"committed_batch"`
	// Past says that the pipeline has worked since. It is not stored.
	Past bool `json:"past"`
}

const (
	errorFolder = "errors/"

	// A run that waits for so long is worth an entry, and another one after each reminder.
	worthAnEntry = 30 * time.Second
	reminder     = 5 * time.Minute
	lookEvery    = 5 * time.Second

	unknownBatch = -2
)

// journal is what the checkpoint remembers of errors for status, numbered entries of which the newest counts. Safe for
// concurrent use by one process; another one may write to it as well.
type journal struct {
	store storage.Store
	judge func(error) Verdict
	now   func() time.Time
	// committed is the newest batch in the table, unknownBatch before a start has seen it.
	committed atomic.Int64
}

// record adds an entry for an error. since is when it began, as far as this process knows.
func (j *journal) record(ctx context.Context, state State, since time.Time, cause error) error {
	keys, last, err := j.read(ctx)
	if err != nil {
		return err
	}
	entry := LastError{Since: since, State: state, Error: cause.Error(), Verdict: j.judge(cause), Committed: j.committed.Load()}
	if last != nil && entry.Committed == unknownBatch {
		entry.Committed = last.Committed
	}
	if last != nil && last.State != Over && last.Kind == entry.Kind && last.Committed == entry.Committed && last.Since.Before(since) {
		entry.Since = last.Since
	}
	return j.put(ctx, keys, entry)
}

// over adds an entry that says that the newest error has passed, if there is one.
func (j *journal) over(ctx context.Context) error {
	keys, last, err := j.read(ctx)
	if err != nil || last == nil || last.State == Over {
		return err
	}
	last.State = Over
	return j.put(ctx, keys, *last)
}

// put stores an entry behind those of keys.
func (j *journal) put(ctx context.Context, keys []string, entry LastError) error {
	entry.Time, entry.Since = j.now().UTC().Truncate(time.Microsecond), entry.Since.UTC().Truncate(time.Microsecond)
	if err := j.entries().put(ctx, keys, entry.Time, entry); err != nil {
		return fmt.Errorf("record the error for status: %w", err)
	}
	return nil
}

func (j *journal) entries() entries { return entries{j.store, errorFolder} }

// read returns the keys of all entries, oldest first, and the newest entry, or nil.
func (j *journal) read(ctx context.Context) (keys []string, newest *LastError, err error) {
	keys, err = j.entries().keys(ctx)
	if err != nil || len(keys) == 0 {
		return keys, nil, err
	}
	key := keys[len(keys)-1]
	body, err := j.store.Get(ctx, key)
	if errors.Is(err, storage.ErrNotExist) {
		return keys, nil, nil // another process has forgotten it
	}
	if err != nil {
		return keys, nil, err
	}
	newest = &LastError{}
	if err := json.Unmarshal(body, newest); err != nil { // torn
		at := time.UnixMicro(j.entries().number(key)).UTC()
		err = fmt.Errorf("an error whose record %s is damaged: %w", key, err)
		newest = &LastError{Time: at, Since: at, State: Ended, Error: err.Error(), Verdict: j.judge(err), Committed: j.committed.Load()}
	}
	return keys, newest, nil
}

// follow records what is waited for, once that has lasted, and when it is over, until ctx ends. An entry that cannot be
// stored is tried again at the next look: the outage itself is said in the log, and is often that of the checkpoint.
func (j *journal) follow(ctx context.Context, outages *retry.Outages) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	var said time.Time // of the newest entry; zero: nothing is waited for
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		oldest, waiting := outages.Oldest()
		switch {
		case waiting && time.Since(oldest.Since) >= worthAnEntry && time.Since(said) >= reminder:
			if j.record(ctx, Waiting, oldest.Since, oldest.Err) == nil {
				said = time.Now()
			}
		case !waiting && !said.IsZero():
			if j.over(ctx) == nil {
				said = time.Time{}
			}
		}
	}
}

// followOutages has the journal follow the outages until the returned function is called.
func (e *Engine) followOutages(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		e.journal.follow(ctx, e.Outages)
	}()
	return func() {
		cancel()
		<-ended
	}
}

// works records, once in a run, that the pipeline works again.
func (e *Engine) works(ctx context.Context) error {
	if e.worked {
		return nil
	}
	e.worked = true
	return e.journal.over(ctx)
}
