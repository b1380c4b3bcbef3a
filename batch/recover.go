package batch

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/sluicedata/sluice/offsetlog"
)

// recovery is what a start does before it plans anything new.
type recovery struct {
	// committed is T, the newest batch in the table, -1 when there is none; since is the first batch its commit covers.
	committed, since int64
	version          int64 // of the table's commit of batch T
	// rerun are the plans to run again, in order: T+1 to P.
	rerun   []offsetlog.Plan
	notices []string
}

// recoverFrom compares T, the newest batch in the table, with P, the newest plan, and with the newest batch that the
// checkpoint knows to have been committed (nil: none), and decides what to run again. It is the table "Recovery" of
// docs/design.md, row by row, and does no I/O. A RefusedError means that the two sides do not belong together.
func recoverFrom(pipeline string, plans []offsetlog.Plan, known *offsetlog.Committed, table *TableState) (recovery, error) {
	if table == nil || table.Batch < 0 {
		return recoverUnrecorded(pipeline, plans, known, table)
	}
	record := ParseRecord(table.UserMetadata)
	c := comparison{pipeline, plans, known, table, record}
	if table.BatchVersion < 0 {
		return c.recoverCleanedUp()
	}
	if record == nil || record.App != pipeline || record.Batch != table.Batch {
		return recovery{}, c.refuse(
			fmt.Sprintf("the table holds batch %d of %q, but its commit, version %d, was not written by this program", table.Batch, pipeline, table.BatchVersion),
			"Give the pipeline another name, which starts it anew.")
	}
	if err := c.check(); err != nil {
		return recovery{}, err
	}
	r := recovery{committed: table.Batch, since: record.Since, version: table.BatchVersion}
	newest := c.newest()
	r.rerun = plans[table.Batch+1-plans[0].Batch:]
	if known != nil && known.Batch > table.Batch {
		r.notices = append(r.notices, fmt.Sprintf("the table went back: batch %d was committed as version %d, but the table holds no batch after %d; batches %d to %d are brought forward from their plans",
			known.Batch, known.Version, table.Batch, table.Batch+1, newest.Batch))
	}
	return r, nil
}

// recoverUnrecorded is the half of the table in which the table knows nothing of the pipeline.
func recoverUnrecorded(pipeline string, plans []offsetlog.Plan, known *offsetlog.Committed, table *TableState) (recovery, error) {
	r := recovery{committed: -1, since: -1, version: -1, rerun: plans}
	if table != nil && table.History != nil {
		return recoverForgotten(pipeline, plans, known, table)
	}
	if len(plans) == 0 {
		return r, nil
	}
	c := comparison{pipeline, plans, known, table, nil}
	newest := plans[len(plans)-1]
	startOver := fmt.Sprintf("If the rows are to be loaded again from the beginning, remove the checkpoint, or give the pipeline another name than %q.", pipeline)
	switch {
	case known == nil && plans[0].Batch == 0 && plans[0].Adopted == nil:
		if table != nil && newest.Table != "" && newest.Table != table.ID {
			return recovery{}, c.refuse("the table was dropped and created again: it is not the one that the plans were made for", startOver)
		}
		return r, nil
	case table == nil:
		return recovery{}, c.refuse("the table is gone", "Restore the table. "+startOver)
	case newest.Table != "" && newest.Table != table.ID:
		return recovery{}, c.refuse("the table was dropped and created again", startOver)
	default:
		return recovery{}, c.refuse(
			fmt.Sprintf("the table has no record of %q any more, not even in its history: its log was cleaned up, or the table was rolled back to before the pipeline's first batch", pipeline), startOver)
	}
}

// recoverForgotten is for a table whose history tells of batches of the pipeline, though its txn action is gone. To go on
// it has to be adopted, and stays so until the next commit brings a txn action back.
func recoverForgotten(pipeline string, plans []offsetlog.Plan, known *offsetlog.Committed, table *TableState) (recovery, error) {
	record := table.History
	if len(plans) > 0 {
		first := plans[0]
		adopted := first.Adopted != nil && first.Adopted.Unrecorded == table.ID && first.Adopted.Checkpoint == record.Checkpoint
		if adopted && first.Batch == record.Batch && sameRanges(first.Ranges, record.Ranges) {
			return recovery{committed: first.Batch, since: first.Batch, version: -1, rerun: plans[1:]}, nil
		}
	}
	return recovery{}, comparison{pipeline, plans, known, table, record}.refuse(
		fmt.Sprintf("the table has no txn action of %q any more: it expired (delta.setTransactionRetentionDuration) or was cleaned away. Its history tells of batch %d", pipeline, record.Batch),
		"If the table still holds the pipeline's rows, run once with --adopt-table: the run then goes on from that batch. If they are to be loaded again from the beginning, give the pipeline another name.")
}

// recoverCleanedUp is for a table that knows the pipeline's newest batch by a log checkpoint alone: the commit, and with it the
// batch's record, has been cleaned up. The batch is only taken for ours if the checkpoint knows that it was committed.
func (c comparison) recoverCleanedUp() (recovery, error) {
	t := c.table.Batch
	refuse := func(problem string) (recovery, error) {
		return recovery{}, c.refuse(fmt.Sprintf("the table holds batch %d of %q, but its commit has been cleaned out of the table's log, and %s", t, c.pipeline, problem),
			"If the checkpoint that belongs to the table can be restored, restore it. Else give the pipeline another name, and a table that is empty or may hold its rows twice.")
	}
	switch {
	case len(c.plans) == 0:
		return refuse("the checkpoint holds no plans to go on from")
	case c.newest().Table != c.table.ID:
		return refuse("the plans were made for another table")
	case c.plans[0].Batch > t || c.newest().Batch < t:
		return refuse("the checkpoint has no plan of that batch")
	case c.known == nil || c.known.Batch != t:
		return refuse("the checkpoint does not know whether the batch was made from its plan")
	}
	return recovery{committed: t, since: c.plans[0].Batch, version: c.known.Version, rerun: c.plans[t+1-c.plans[0].Batch:]}, nil
}

// comparison holds both sides for checks and for messages.
type comparison struct {
	pipeline string
	plans    []offsetlog.Plan
	known    *offsetlog.Committed
	table    *TableState
	record   *Record // nil when the table has none
}

// newest is the newest plan; there must be one.
func (c comparison) newest() offsetlog.Plan { return c.plans[len(c.plans)-1] }

const adopt = "If the table is right, run once with --adopt-table: the run then goes on from the table's own record. If the checkpoint is right, restore the table that belongs to it."

// check is for a table that has a record of the pipeline.
func (c comparison) check() error {
	if len(c.plans) == 0 {
		return c.refuse("the checkpoint holds no plans, though the table has been written by this pipeline", adopt)
	}
	first, newest := c.plans[0], c.plans[len(c.plans)-1]
	switch {
	case newest.Table != "" && newest.Table != c.table.ID:
		return c.refuse("the table is not the one that the plans were made for: it was dropped and created again, or the path leads to another one", adopt)
	case newest.Batch < c.record.Batch:
		return c.refuse(fmt.Sprintf("the checkpoint is older than the table: its newest plan is of batch %d, the table holds batch %d", newest.Batch, c.record.Batch), adopt)
	case first.Batch > c.record.Batch:
		return c.refuse(fmt.Sprintf("the table went back to batch %d, further than the plans that are kept, which begin with batch %d", c.record.Batch, first.Batch), adopt)
	}
	return c.checkSame()
}

// checkSame checks that the plans of the batches behind the table's record are those that it was made from.
func (c comparison) checkSame() error {
	plan := c.plans[c.record.Batch-c.plans[0].Batch]
	if plan.Adopted != nil {
		if plan.Adopted.Checkpoint != c.record.Checkpoint || !sameRanges(plan.Ranges, c.record.Ranges) {
			return c.refuse(fmt.Sprintf("batch %d in the table is not the one that the checkpoint adopted", c.record.Batch), adopt)
		}
		return nil
	}
	if plan.Checkpoint != c.record.Checkpoint {
		return c.refuse(fmt.Sprintf("batch %d in the table was run from another checkpoint: two pipelines share the name %q, or the checkpoint is of another time", c.record.Batch, c.pipeline), adopt)
	}
	var ranges []offsetlog.Range
	for _, p := range c.plans {
		if p.Batch >= c.record.Since && p.Batch <= c.record.Batch && p.Adopted == nil {
			ranges = offsetlog.Merge(ranges, p.Ranges)
		}
	}
	if c.record.Since < c.plans[0].Batch {
		return c.refuse(fmt.Sprintf("the table's commit covers batches from %d on, whose plans are gone", c.record.Since), adopt)
	}
	if !sameRanges(ranges, c.record.Ranges) {
		return c.refuse(fmt.Sprintf("batch %d in the table covers other ranges than its plan: the checkpoint was edited, or two pipelines share the name %q", c.record.Batch, c.pipeline), adopt)
	}
	return nil
}

func sameRanges(a, b []offsetlog.Range) bool {
	byPartition := func(x, y offsetlog.Range) int {
		return cmp.Or(cmp.Compare(x.Partition, y.Partition), cmp.Compare(x.ID, y.ID), cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To))
	}
	a, b = slices.Clone(a), slices.Clone(b)
	slices.SortFunc(a, byPartition)
	slices.SortFunc(b, byPartition)
	return slices.Equal(a, b)
}

func (c comparison) refuse(problem, wayOut string) error {
	e := &RefusedError{Problem: problem, WayOut: wayOut, Table: c.tableSide(), Plans: "no plans"}
	if len(c.plans) > 0 {
		newest := c.plans[len(c.plans)-1]
		shown := newest
		if c.record != nil && c.record.Batch >= c.plans[0].Batch && c.record.Batch < newest.Batch {
			shown = c.plans[c.record.Batch-c.plans[0].Batch]
		}
		e.Plans = fmt.Sprintf("id %s, plans of batches %d to %d for table %s; batch %d: %s",
			newest.Checkpoint, c.plans[0].Batch, newest.Batch, cmp.Or(newest.Table, "(not yet created)"), shown.Batch, offsetlog.ListRanges(shown.Ranges))
		if c.known != nil {
			e.Plans += fmt.Sprintf("; batch %d was known to be committed as version %d", c.known.Batch, c.known.Version)
		}
	}
	return e
}

func (c comparison) tableSide() string {
	switch {
	case c.table == nil:
		return "there is none"
	case c.table.Batch >= 0 && c.table.BatchVersion < 0:
		return fmt.Sprintf("id %s, version %d, batch %d of %q without its record", c.table.ID, c.table.Version, c.table.Batch, c.pipeline)
	case c.record == nil:
		return fmt.Sprintf("id %s, version %d, no batch of %q", c.table.ID, c.table.Version, c.pipeline)
	}
	return fmt.Sprintf("id %s, batch %d (version %d, checkpoint %s): %s", c.table.ID, c.record.Batch, c.table.BatchVersion, c.record.Checkpoint, offsetlog.ListRanges(c.record.Ranges))
}

// unreadable is the error of an offset log that cannot be trusted, with what the table says beside it.
func unreadable(err error, pipeline string, table *TableState) error {
	var corrupt *offsetlog.CorruptError
	if table == nil || !errors.As(err, &corrupt) {
		return err
	}
	return fmt.Errorf("%w\n  table:      %s", err, comparison{pipeline, nil, nil, table, ParseRecord(table.UserMetadata)}.tableSide())
}
