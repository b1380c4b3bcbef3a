package commitlog

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
)

// NoTable is the ReadVersion of a transaction that creates the table.
const NoTable int64 = -1

// Isolation levels, as commitInfo names them.
const (
	isolationSerializable      = "Serializable"
	isolationWriteSerializable = "WriteSerializable"
	isolationSnapshot          = "SnapshotIsolation"
)

// Transaction is what is to become one commit.
type Transaction struct {
	// ReadVersion is the table version that the actions were made from, or NoTable.
	ReadVersion int64

	// Actions are the commit's actions. Version is ignored. Of Info, Timestamp, IsolationLevel, EngineInfo and TxnID are
	// filled in if empty; ReadVersion, IsBlindAppend and InCommitTimestamp always are. A Timestamp before that of the
	// version before becomes that one; files without a ModificationTime get it too. A TxnID that is set makes the
	// transaction known by it: whoever calls Commit again after an UnknownError sets the one that the error names.
	//
	// With NoTable they hold Protocol and Metadata. If somebody else creates the table first, these two and Domains are dropped, and
	// the rest is committed to that table, provided that Validate agrees.
	Actions Commit

	// AppID and Batch name the batch that the transaction commits. Its txn action is added unless Actions has it. An
	// empty AppID means that there is none. Covers is how many batches right before Batch the transaction stands for as
	// well, because they had nothing to commit: one of them in the log fences it too.
	AppID  string
	Batch  int64
	Covers int64

	// Blind says that the transaction only adds, and that no data file of the table was read to make it. A blind
	// transaction comes after whatever others commit meanwhile.
	Blind bool

	// Whole says that the transaction decides what all of the table is: whoever changes a file or a domain meanwhile is a conflict,
	// even if it changes none itself, and whatever the table's isolation level.
	Whole bool
	// Validate is called with the newest head when others have changed the table's protocol or metadata since
	// ReadVersion, or created the table. Its error ends the commit and is returned as it is. Without Validate such a
	// change is a conflict. Only blind transactions can survive one. It must not call the Log.
	Validate func(*Head) error
}

// Result tells how a transaction was committed.
type Result struct {
	Version    int64 // of the table
	Recognised bool  // it was found in the log, put there by an earlier try whose outcome had been unknown
	Tries      int   // puts that this call made
}

// prepare checks the transaction against itself and completes its actions. It leaves the caller's untouched.
func (tx *Transaction) prepare(now time.Time) (*attempt, error) {
	a := &attempt{tx: tx, commit: tx.Actions, checked: tx.ReadVersion, own: -1, putAt: tx.ReadVersion + 1}
	a.commit.Info = tx.Actions.Info.clone()
	a.resumed = a.commit.Info.TxnID != ""
	a.pending = a.resumed
	if !a.resumed {
		a.commit.Info.TxnID = uuid.NewString()
	}
	switch {
	case tx.ReadVersion < NoTable:
		return nil, fmt.Errorf("commit: read version %d does not exist", tx.ReadVersion)
	case tx.Blind && len(a.commit.Removes) > 0:
		return nil, errors.New("commit: a blind transaction removes nothing")
	case tx.ReadVersion == NoTable && (a.commit.Protocol == nil || a.commit.Metadata == nil):
		return nil, fmt.Errorf("commit: a transaction that creates the table needs protocol and metaData: %w", ErrNoTable)
	}
	if err := a.prepareTxns(now.UnixMilli()); err != nil {
		return nil, err
	}
	a.prepareInfo()
	return a, nil
}

// prepareTxns adds the batch's txn action, and the time to those without one: Spark drops entries that have none as soon
// as the table has a retention for them.
func (a *attempt) prepareTxns(nowMillis int64) error {
	a.commit.Txns = slices.Clone(a.commit.Txns)
	if a.tx.AppID != "" {
		switch t, ok := a.commit.Txn(a.tx.AppID); {
		case !ok:
			a.commit.Txns = append(a.commit.Txns, Txn{AppID: a.tx.AppID, Version: a.tx.Batch})
		case t.Version != a.tx.Batch:
			return fmt.Errorf("commit: batch %d of %q comes with a txn action of version %d", a.tx.Batch, t.AppID, t.Version)
		}
	}
	for i := range a.commit.Txns {
		if a.commit.Txns[i].LastUpdated == 0 {
			a.commit.Txns[i].LastUpdated = nowMillis
		}
	}
	return nil
}

func (a *attempt) prepareInfo() {
	info := a.commit.Info
	if a.tx.ReadVersion >= 0 {
		read := a.tx.ReadVersion
		info.ReadVersion = &read
	}
	if info.IsolationLevel == "" {
		info.IsolationLevel = isolationSerializable
		if a.rearranges() {
			info.IsolationLevel = isolationSnapshot
		}
	}
	blind := a.tx.Blind
	info.IsBlindAppend = &blind
	if info.EngineInfo == "" {
		info.EngineInfo = "Sluice"
	}
}

func (a *attempt) rearranges() bool { return a.commit.Rearranges() }

// Rearranges tells whether the commit replaces files, and all that it does to them leaves the table's rows as they are.
func (c *Commit) Rearranges() bool {
	return len(c.Removes) > 0 &&
		!slices.ContainsFunc(c.Adds, func(f Add) bool { return f.DataChange }) &&
		!slices.ContainsFunc(c.Removes, func(f Remove) bool { return f.DataChange })
}

// timestamp is the in-commit timestamp of a commit that comes after h, in ms since the epoch: never before the clock,
// always after the commit before it ("Writer Requirements for In-Commit Timestamps").
func timestamp(h *Head, nowMillis int64) int64 { return max(nowMillis, h.LastICT+1) }
