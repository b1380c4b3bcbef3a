package table

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/storage"
)

// pending are files that are part of the table with one commit, or go. Not safe for concurrent use.
type pending struct {
	table   *Table
	writer  *writer
	txnID   string // of a commit whose outcome is unknown
	cause   error  // why it is
	whole   bool   // all files are
	settled bool   // committed or aborted
	failed  error  // of the writer; nothing can be committed after it
}

func (p *pending) usable() error {
	if p.failed != nil {
		return p.failed
	}
	if p.settled {
		return errors.New("it has been committed or aborted; begin a new one")
	}
	return nil
}

// finish completes and publishes the files, once.
func (p *pending) finish(ctx context.Context) error {
	if p.whole {
		return nil
	}
	p.whole, p.failed = true, p.writer.finish(ctx)
	return p.failed
}

// commit publishes the files and puts the transaction that refers to them, which is asked for when they are there. After a
// *commitlog.UnknownError it may be called again; after any other error what was written has been removed.
func (p *pending) commit(ctx context.Context, transaction func() commitlog.Transaction) (Committed, error) {
	if err := p.usable(); err != nil {
		return Committed{}, err
	}
	if err := p.finish(ctx); err != nil {
		return Committed{}, errors.Join(err, p.Abort(ctx))
	}
	result, err := p.table.log.Commit(ctx, transaction())
	if err != nil {
		return Committed{}, p.refused(ctx, err)
	}
	p.settled, p.txnID = true, ""
	// The commit refers to the files, and a sweep asks the table before it removes one: that a file could not be marked
	// as settled costs that question and nothing else.
	_ = p.writer.settle(ctx)
	return Committed{
		Version:    result.Version,
		Files:      len(p.writer.done),
		Rows:       p.writer.rows,
		Bytes:      p.writer.bytes(),
		Recognised: result.Recognised,
	}, nil
}

func (p *pending) refused(ctx context.Context, err error) error {
	var unknown *commitlog.UnknownError
	if errors.As(err, &unknown) {
		if p.txnID == "" {
			p.txnID, p.cause = unknown.TxnID, unknown.Err
		} else if p.cause != nil { // the later call may not even have put it
			unknown.Err = fmt.Errorf("%w; asked again: %w", p.cause, unknown.Err)
		}
		return err
	}
	p.txnID = ""
	return errors.Join(err, p.Abort(ctx))
}

// Abort removes what was written. It goes on after ctx is done, so that a stopped run leaves nothing. What a commit of
// unknown outcome refers to stays; the next Sweep knows. After a commit has succeeded it does nothing.
func (p *pending) Abort(ctx context.Context) error {
	if p.settled || p.txnID != "" {
		p.writer.release()
		return nil
	}
	p.settled = true
	return p.writer.abort(storage.Finish(ctx))
}
