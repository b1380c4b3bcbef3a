package table

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/sluicedata/sluice/commitlog"
)

// Batch is what a commit says of itself.
type Batch struct {
	ID int64
	// Covers is how many batches right before ID the commit stands for as well: they had no rows.
	Covers       int64
	UserMetadata string // commitInfo.userMetadata, which every engine's history shows
	// Operation is Spark's word for what was done; STREAMING UPDATE if empty.
	Operation string
	// Time is commitInfo.timestamp; the time of the commit if zero.
	Time time.Time
}

const streamingUpdate = "STREAMING UPDATE"

// Committed is the outcome of a Commit.
type Committed struct {
	Version    int64 // of the table
	Files      int
	Rows       int64
	Bytes      int64 // of the files
	Recognised bool  // an earlier try, whose outcome was unknown, had put it into the log
}

// Commit publishes the files and puts the one commit that makes them part of the table; without rows it holds only the
// batch's txn. If somebody else created the table first, or changed its schema meanwhile, the rows go in if they still fit.
//
// When it fails with a *commitlog.FencedError the batch is in the table by another hand; with that and with any other error
// but *commitlog.UnknownError, what was written has been removed. After an UnknownError Commit may be called again.
func (a *Append) Commit(ctx context.Context, batch Batch) (Committed, error) {
	return a.commit(ctx, func() commitlog.Transaction { return a.transaction(batch) })
}

func (a *Append) transaction(batch Batch) commitlog.Transaction {
	tx := commitlog.Transaction{
		ReadVersion: commitlog.NoTable,
		AppID:       a.table.options.AppID,
		Batch:       batch.ID,
		Covers:      batch.Covers,
		Blind:       true,
		Validate:    a.validate,
	}
	if a.head != nil {
		tx.ReadVersion = a.head.Version
	} else {
		tx.Actions = a.made
	}
	tx.Actions.Info = a.info(batch)
	tx.Actions.Adds = a.writer.adds()
	return tx
}

// info is the commit's commitInfo, in the form of Spark's streaming sink: all parameters and metrics are strings.
func (a *Append) info(batch Batch) *commitlog.CommitInfo {
	info := &commitlog.CommitInfo{
		Operation: batch.Operation,
		OperationParameters: map[string]any{
			"outputMode": "Append",
			"queryId":    a.table.options.AppID,
			"epochId":    strconv.FormatInt(batch.ID, 10),
		},
		OperationMetrics: map[string]string{
			"numAddedFiles":   strconv.Itoa(len(a.writer.done)),
			"numRemovedFiles": "0",
			"numOutputRows":   strconv.FormatInt(a.writer.rows, 10),
			"numOutputBytes":  strconv.FormatInt(a.writer.bytes(), 10),
		},
		UserMetadata: batch.UserMetadata,
		EngineInfo:   a.table.engine(),
		TxnID:        a.txnID,
	}
	if info.Operation == "" {
		info.Operation = streamingUpdate
	}
	if !batch.Time.IsZero() {
		info.Timestamp = batch.Time.UnixMilli()
	}
	return info
}

// validate tells whether the files, as they are, may go into the table as it has become.
func (a *Append) validate(head *commitlog.Head) error {
	if err := head.Writable(); err != nil {
		return err
	}
	if err := checkFits(a.schema, head.Schema(), true); err != nil {
		return fmt.Errorf("table version %d has another schema: %w", head.Version, err)
	}
	return a.writer.checkPartitions(head.Metadata.PartitionColumns, head.Version)
}
