package batch

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/schema"
)

// QuarantineColumns are the columns of a quarantine table: which batch, at which batch time, rejected which record of
// the source, for what reason, and the record's bytes as they are (null for a Kafka tombstone).
func QuarantineColumns() *schema.Type {
	field := func(name string, kind schema.Kind, nullable bool) schema.Field {
		return schema.Field{Name: name, Type: &schema.Type{Kind: kind}, Nullable: nullable}
	}
	return &schema.Type{Kind: schema.Struct, Fields: []schema.Field{
		field("batch_id", schema.Long, false),
		field("batch_time", schema.Timestamp, false),
		field("source", schema.String, false),
		field("position", schema.Long, false),
		field("column", schema.String, true),
		field("reason", schema.String, false),
		field("value", schema.Binary, true),
	}}
}

// quarantineState is what the quarantine table says of the pipeline.
type quarantineState struct {
	table  *TableState // nil: there is no quarantine table
	record *Record     // of the newest batch in it, nil: none
	batch  int64       // that batch, -1: none
}

func (e *Engine) readQuarantine(ctx context.Context) (q quarantineState, err error) {
	q.batch = -1
	if e.Quarantine == nil {
		return q, nil
	}
	if q.table, err = e.Quarantine.Refresh(ctx); err != nil || q.table == nil {
		return q, err
	}
	q.batch, q.record = q.table.Batch, q.table.History
	if q.table.Batch >= 0 {
		q.record = ParseRecord(q.table.UserMetadata)
	}
	if q.record != nil {
		q.batch = q.record.Batch
	}
	return q, nil
}

// checkQuarantine compares the quarantine table, as it was read before the plans, with the plans, as recoverFrom does the
// table itself. The quarantine table is written before the table, so it may be ahead, but only by batches that are planned.
func (e *Engine) checkQuarantine(ctx context.Context, q quarantineState, r *recovery) error {
	e.quarantined = q.batch
	if q.batch <= r.committed {
		notice, err := e.quarantineWentBack(ctx, q)
		r.notices = append(r.notices, notice...)
		return err
	}
	plan := e.log.Plan(q.batch)
	if plan != nil && q.record != nil && q.record.Checkpoint == plan.Checkpoint && sameRanges(q.record.Ranges, plan.Ranges) {
		return nil
	}
	return comparison{e.Name, e.log.Plans(), e.log.Committed(), q.table, q.record}.refuse(
		fmt.Sprintf("the quarantine table %s holds bad records of batch %d, which is in no plan of this checkpoint: bad records of the batches up to there would be left out as if they were there already", e.Quarantine.URL(), q.batch),
		"Move the quarantine table away, or give the pipeline another name.")
}

// quarantineWentBack says it when the table's newest batch had bad records which the quarantine table does not hold. The
// table was read after the quarantine table, so another process may have written both in between: it is looked at again.
func (e *Engine) quarantineWentBack(ctx context.Context, q quarantineState) ([]string, error) {
	if e.table == nil || e.Quarantine == nil {
		return nil, nil
	}
	newest := ParseRecord(e.table.UserMetadata)
	if newest == nil || newest.Bad == 0 || newest.Fingerprint != e.Fingerprint || q.batch >= newest.Batch {
		return nil, nil
	}
	again, err := e.readQuarantine(ctx)
	if err != nil || again.batch >= newest.Batch {
		return nil, err
	}
	return []string{fmt.Sprintf("the quarantine table %s went back: it does not hold the %d bad records of batch %d; they are still in the source at %s",
		e.Quarantine.URL(), newest.Bad, newest.Batch, offsetlog.ListRanges(newest.Ranges))}, nil
}

// rejects collects the bad records of one batch for the quarantine table.
type rejects struct {
	engine  *Engine
	plan    offsetlog.Plan
	builder *array.RecordBuilder // nil while there is none
	writer  Writer
	rows    int64
	bytes   int64   // in builder
	done    *Commit // nil while there is none
}

// flushRejects is the size in bytes at which collected records move to the writer.
const flushRejects = 4 << 20

// add takes one record. A batch whose rejects the quarantine table holds already is counted, not written.
func (r *rejects) add(ctx context.Context, bad format.Bad) error {
	r.rows++
	if r.engine.quarantined >= r.plan.Batch {
		return nil
	}
	if r.builder == nil {
		r.builder = array.NewRecordBuilder(memory.DefaultAllocator, QuarantineColumns().ArrowSchema())
	}
	r.builder.Field(0).(*array.Int64Builder).Append(r.plan.Batch)
	r.builder.Field(1).(*array.TimestampBuilder).Append(arrow.Timestamp(r.plan.Time.UnixMicro()))
	r.builder.Field(2).(*array.StringBuilder).Append(bad.Partition)
	r.builder.Field(3).(*array.Int64Builder).Append(bad.Position)
	if column := r.builder.Field(4).(*array.StringBuilder); bad.Column == "" {
		column.AppendNull()
	} else {
		column.Append(bad.Column)
	}
	r.builder.Field(5).(*array.StringBuilder).Append(bad.Reason)
	if value := r.builder.Field(6).(*array.BinaryBuilder); bad.Value == nil {
		value.AppendNull()
	} else {
		value.Append(bad.Value)
	}
	if r.bytes += int64(len(bad.Value) + len(bad.Reason)); r.bytes >= flushRejects {
		return r.flush(ctx)
	}
	return nil
}

func (r *rejects) flush(ctx context.Context) (err error) {
	rows := r.builder.NewRecord()
	defer rows.Release()
	r.bytes = 0
	if rows.NumRows() == 0 {
		return nil
	}
	if r.writer == nil {
		if r.writer, err = r.engine.Quarantine.Begin(ctx); err != nil {
			return fmt.Errorf("quarantine: %w", err)
		}
	}
	if err := r.writer.Write(ctx, rows); err != nil {
		return fmt.Errorf("quarantine: %w", err)
	}
	return nil
}

// finish completes the files of the rejects, unless there are none to be written.
func (r *rejects) finish(ctx context.Context) error {
	if r.builder == nil {
		return nil
	}
	defer r.builder.Release()
	if err := r.flush(ctx); err != nil {
		return err
	}
	if err := r.writer.Finish(ctx); err != nil {
		return fmt.Errorf("quarantine: %w", err)
	}
	return nil
}

// commit makes the finished rejects durable under the batch's id.
func (r *rejects) commit(ctx context.Context) error {
	if r.writer == nil {
		return nil
	}
	record := r.engine.record(r.plan, r.plan.Ranges)
	record.Since, record.Rows = r.plan.Batch, r.rows
	commit, err := r.writer.Commit(ctx, record)
	if err != nil {
		return fmt.Errorf("quarantine: %w", err)
	}
	r.writer, r.done = nil, &commit
	return nil
}

func (r *rejects) abort(ctx context.Context) error {
	if r.writer == nil {
		return nil
	}
	return r.writer.Abort(ctx)
}

// quarantine takes note of rejects that are in the quarantine table.
func (e *Engine) quarantine(r *rejects) {
	if r.done == nil {
		return
	}
	e.quarantined = r.plan.Batch
	if e.Events.Quarantined != nil {
		e.Events.Quarantined(r.plan.Batch, r.rows, r.done.Version)
	}
}
