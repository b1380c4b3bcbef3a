// Package offsetlog keeps what each batch of a pipeline will read, written down before anything is read.
//
// It owns the write-once, numbered plans of a checkpoint: the object offsets/N, N being the batch id in 20 digits, holds
// the Plan of batch N. A batch that was planned is run with exactly these ranges, however often it has to be run; which
// batches are done is not said here but by the commit log of the table. Package batch compares the two. What the checkpoint
// remembers of commits, in later plans and in the object commits/N that a clean end leaves, only tells a table that lost some.
//
// Invariants:
//
//   - An entry is stored by put-if-absent and never changed. Two processes that plan the same batch get the same plan:
//     that of the first.
//   - Entries are contiguous from the newest one's First on, but for what stands before an entry that was adopted from the
//     table. What is below First does not count.
//   - All entries are of one pipeline, and since the last adoption of one checkpoint id.
//   - Only the newest entry can be torn (on a store that can leave a part of an object); its put was never confirmed, so
//     nothing was built on it, and the next plan replaces it. Everything else that is wrong is an error.
package offsetlog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/sluicedata/sluice/storage"
)

const folder = "offsets/"

// Log is the offset log of one pipeline. Not safe for concurrent use by several goroutines; several processes may each
// have one on the same store.
type Log struct {
	store    storage.Store
	pipeline string
	plans    []Plan // contiguous, ascending
	torn     string // key of a newest entry that was cut short, until it is removed
	notices  []string
	commits  []string   // keys of what ended runs have recorded
	ended    lastCommit // the newest of them
}

// CorruptError is an offset log that cannot be trusted.
type CorruptError struct {
	Store   string // URL of the checkpoint
	Key     string // the entry at fault
	Problem string
	WayOut  string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("offset log %s: %s: %s; %s", e.Store, e.Key, e.Problem, e.WayOut)
}

// Remedy is what to do about it.
func (e *CorruptError) Remedy() string { return e.WayOut }

const restoreOrAdopt = "restore the checkpoint from a backup, or let the run go on from the table's own record with --adopt-table"

func key(batch int64) string { return keyIn(folder, batch) }

func keyIn(folder string, batch int64) string { return fmt.Sprintf("%s%020d", folder, batch) }

// batchOf is the batch whose entry has this key; other names in the folder are nobody's business.
func batchOf(folder, k string) (int64, bool) {
	batch, err := strconv.ParseInt(strings.TrimPrefix(k, folder), 10, 64)
	return batch, err == nil && keyIn(folder, batch) == k
}

// maxLooks bounds how often Open looks again because another process prunes the log meanwhile.
const maxLooks = 10

// Open reads the log in the checkpoint. A pipeline that has never planned has an empty one. A torn newest entry does not
// count, which Notices tells; Append replaces it. Open changes nothing.
func Open(ctx context.Context, checkpoint storage.Store, pipeline string) (l *Log, err error) {
	for range maxLooks {
		l = &Log{store: checkpoint, pipeline: pipeline}
		if err = l.read(ctx); err == nil {
			return l, nil
		}
		if !errors.Is(err, storage.ErrNotExist) { // an entry that was listed can be pruned before it is read
			break
		}
	}
	return nil, err
}

// read fills an empty log.
func (l *Log) read(ctx context.Context) error {
	if err := l.readCommits(ctx); err != nil {
		return err
	}
	batches, err := l.list(ctx)
	if err != nil || len(batches) == 0 {
		return err
	}
	newest, err := l.get(ctx, batches[len(batches)-1])
	if IsTorn(err) {
		l.torn = key(batches[len(batches)-1])
		l.notices = append(l.notices, fmt.Sprintf("the plan of batch %d was torn by a crash while it was written; nothing had been done by it, and it is planned anew", batches[len(batches)-1]))
		if batches = batches[:len(batches)-1]; len(batches) == 0 {
			return nil
		}
		newest, err = l.get(ctx, batches[len(batches)-1])
	}
	if err != nil {
		return err
	}
	for _, batch := range batches {
		if batch < newest.First {
			continue
		}
		plan, err := l.get(ctx, batch)
		if IsTorn(err) {
			err = l.corrupt(batch, err.Error())
		}
		if err == nil {
			err = l.admit(plan, batch)
		}
		if err != nil {
			return err
		}
	}
	return l.checkCommits()
}

func (l *Log) list(ctx context.Context) ([]int64, error) {
	var batches []int64
	err := l.store.List(ctx, folder, "", func(info storage.Info) error {
		if batch, ours := batchOf(folder, info.Key); ours {
			batches = append(batches, batch)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the offset log: %w", err)
	}
	return batches, nil
}

// get reads one entry.
func (l *Log) get(ctx context.Context, batch int64) (Plan, error) {
	data, err := l.store.Get(ctx, key(batch))
	if err != nil {
		return Plan{}, fmt.Errorf("read the offset log: %w", err)
	}
	plan, err := Decode(data)
	if err != nil && !IsTorn(err) {
		err = l.corrupt(batch, err.Error())
	}
	return plan, err
}

func (l *Log) admit(plan Plan, batch int64) error {
	if plan.Pipeline != l.pipeline {
		return &CorruptError{
			l.store.URL(), key(batch), fmt.Sprintf("it belongs to pipeline %q, not to %q, and covers %s", plan.Pipeline, l.pipeline, ListRanges(plan.Ranges)),
			"give each pipeline a checkpoint of its own; if no other pipeline uses this one, run once with --adopt-table to go on from the table's own record",
		}
	}
	if plan.Batch != batch {
		return l.corrupt(batch, fmt.Sprintf("it is the plan of batch %d under another name", plan.Batch))
	}
	if plan.Adopted != nil || len(l.plans) == 0 {
		l.plans = []Plan{plan}
		return nil
	}
	last := l.plans[len(l.plans)-1]
	switch {
	case batch != last.Batch+1:
		return l.corrupt(last.Batch+1, fmt.Sprintf("it is missing, though the plan of batch %d is there", batch))
	case plan.Checkpoint != last.Checkpoint:
		return l.corrupt(batch, fmt.Sprintf("it is of checkpoint %s, those before it are of %s", plan.Checkpoint, last.Checkpoint))
	}
	l.plans = append(l.plans, plan)
	return nil
}

func (l *Log) corrupt(batch int64, problem string) error {
	return &CorruptError{l.store.URL(), key(batch), problem, restoreOrAdopt}
}

// Notices tells what Open passed over.
func (l *Log) Notices() []string { return l.notices }

// Plans returns the plans that count, in order of batch. The caller does not change them.
func (l *Log) Plans() []Plan { return l.plans }

// Newest returns the newest plan, or nil.
func (l *Log) Newest() *Plan {
	if len(l.plans) == 0 {
		return nil
	}
	return &l.plans[len(l.plans)-1]
}

// Plan returns the plan of a batch, or nil.
func (l *Log) Plan(batch int64) *Plan {
	if len(l.plans) == 0 || batch < l.plans[0].Batch || batch > l.plans[len(l.plans)-1].Batch {
		return nil
	}
	return &l.plans[batch-l.plans[0].Batch]
}

// Append stores the plan of the next batch and returns the plan that is now in the log: the given one, or that of another
// process which was first. The checkpoint's id is filled in.
func (l *Log) Append(ctx context.Context, plan Plan) (Plan, error) {
	plan.Pipeline = l.pipeline
	if newest := l.Newest(); newest != nil {
		if plan.Batch != newest.Batch+1 {
			return Plan{}, fmt.Errorf("plan batch %d: the newest plan is of batch %d", plan.Batch, newest.Batch)
		}
		plan.Checkpoint = newest.Checkpoint
	} else {
		plan.Checkpoint = uuid.NewString()
	}
	if err := l.removeTorn(ctx); err != nil {
		return Plan{}, fmt.Errorf("plan batch %d: remove its torn plan: %w", plan.Batch, err)
	}
	stored, err := l.put(ctx, plan)
	if err != nil {
		return Plan{}, fmt.Errorf("plan batch %d: %w", plan.Batch, err)
	}
	if err := l.admit(stored, plan.Batch); err != nil {
		return Plan{}, err
	}
	return stored, nil
}

// removeTorn removes the torn entry that Open passed over, if it is still torn.
func (l *Log) removeTorn(ctx context.Context) error {
	if l.torn == "" {
		return nil
	}
	data, err := l.store.Get(ctx, l.torn)
	if err == nil {
		if _, err := Decode(data); IsTorn(err) {
			return l.store.Delete(ctx, l.torn)
		}
	}
	if errors.Is(err, storage.ErrNotExist) {
		err = nil
	}
	return err
}

func (l *Log) put(ctx context.Context, plan Plan) (Plan, error) {
	body, err := plan.Encode()
	if err != nil {
		return Plan{}, err
	}
	there, err := storage.Put(ctx, l.store, key(plan.Batch), body)
	if err != nil {
		return Plan{}, err
	}
	stored, err := Decode(there)
	if err != nil {
		return Plan{}, l.corrupt(plan.Batch, err.Error())
	}
	return stored, nil
}

// Prune deletes what counts no more: the entries below the newest plan's First.
func (l *Log) Prune(ctx context.Context) error {
	newest := l.Newest()
	if newest == nil {
		return nil
	}
	first := newest.First
	err := l.store.List(ctx, folder, "", func(info storage.Info) error {
		batch, ours := batchOf(folder, info.Key)
		switch {
		case !ours:
			return nil
		case batch >= first:
			return errEnough
		}
		return l.store.Delete(ctx, info.Key)
	})
	if err != nil && !errors.Is(err, errEnough) {
		return fmt.Errorf("prune the offset log: %w", err)
	}
	l.plans = slices.DeleteFunc(l.plans, func(p Plan) bool { return p.Batch < first })
	return nil
}

var errEnough = errors.New("enough")

// Adopt replaces the whole log by one entry with the ranges of a batch that the table has a record of. The entries that
// were there are kept aside, under replaced/, as they are; Open need not have accepted them. After a crash in between
// the log is empty or ends earlier than before, and Adopt can be called again.
func Adopt(ctx context.Context, checkpoint storage.Store, plan Plan) error {
	l := &Log{store: checkpoint, pipeline: plan.Pipeline}
	batches, err := l.list(ctx)
	if err != nil {
		return err
	}
	aside := "replaced/" + uuid.NewString() + "/"
	for _, batch := range batches {
		body, err := checkpoint.Get(ctx, key(batch))
		if err != nil {
			return fmt.Errorf("adopt the table: keep the old plans: %w", err)
		}
		if _, err := storage.Put(ctx, checkpoint, aside+key(batch), body); err != nil {
			return fmt.Errorf("adopt the table: keep the old plans: %w", err)
		}
	}
	for _, batch := range slices.Backward(batches) {
		if err := checkpoint.Delete(ctx, key(batch)); err != nil {
			return fmt.Errorf("adopt the table: %w", err)
		}
	}
	plan.Checkpoint = uuid.NewString()
	stored, err := l.put(ctx, plan)
	if err == nil && stored.Adopted == nil {
		err = fmt.Errorf("another process planned batch %d meanwhile; stop it first", plan.Batch)
	}
	if err != nil {
		return fmt.Errorf("adopt the table: %w", err)
	}
	return nil
}
