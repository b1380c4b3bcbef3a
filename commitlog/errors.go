package commitlog

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// ErrNoTable says that the folder holds no Delta table: no commit and no log checkpoint.
var ErrNoTable = errors.New("no Delta table there; check the path, or run the pipeline that makes it")

// ErrNoVersion says that a version was asked for that the table does not have.
var ErrNoVersion = errors.New("no such version")

// FencedError says that the batch, or one that it covers, is in the log already, put there by another transaction of the
// same application.
type FencedError struct {
	AppID   string
	Batch   int64   // the batch that was to be committed
	Version int64   // the table version that holds it, or a later one
	Winner  *Commit // the commit that holds it; nil if only a log checkpoint tells of it, or it has been cleaned up
}

func (e *FencedError) Error() string {
	return fmt.Sprintf("commit batch %d of %q: table version %d has it, or a batch that it covers, already, by another transaction; if a second process runs this pipeline, stop one of the two",
		e.Batch, e.AppID, e.Version)
}

// ConflictError says that a commit that came first took away what the transaction was made from. The transaction is not
// in the log; make it again from the newest version.
type ConflictError struct {
	Version int64 // of the commit that came first
	Reason  string
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("conflict with table version %d: %s; read the table again and repeat", e.Version, e.Reason)
}

// UnknownError says that the log did not tell, within the tries allowed, whether the transaction was committed. It may be
// in the log as version Version, now or later: what it refers to must stay. Calling Commit again with the same
// transaction, its TxnID set in Actions.Info, finds out.
type UnknownError struct {
	Version int64
	TxnID   string
	Err     error
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("commit version %d: the outcome is unknown: %v; the next start reads the log and finds out", e.Version, e.Err)
}

// Unwrap returns the storage's last error.
func (e *UnknownError) Unwrap() error { return e.Err }

// UnsupportedError says that the table asks for something that this version of Sluice cannot do.
type UnsupportedError struct {
	Table    string   // its URL
	Features []string // names of table features, or of what else is asked for
	For      string   // "reading" or "writing"
	Detail   string   // what in the table asks for it
}

func (e *UnsupportedError) Error() string {
	detail := ""
	if e.Detail != "" {
		detail = " (" + e.Detail + ")"
	}
	return fmt.Sprintf("table %s: %s it needs %s%s, which this version of Sluice does not support; use a table without, or another engine for this one",
		e.Table, e.For, strings.Join(e.Features, ", "), detail)
}

// CorruptError says that the log is damaged, or that a commit in it breaks the protocol.
type CorruptError struct {
	Table   string // its URL; empty when ParseCommit was called directly
	Version int64  // of the commit or log checkpoint at fault
	Key     string // of the file at fault; empty: the commit's
	Reason  string
}

func (e *CorruptError) Error() string {
	table := ""
	if e.Table != "" {
		table = "table " + e.Table + ": "
	}
	return fmt.Sprintf("%s%s: %s; the table's log is damaged: restore that file from a copy, or rebuild the table", table, e.File(), e.Reason)
}

// File is the key of the file at fault.
func (e *CorruptError) File() string { return cmp.Or(e.Key, commitKey(e.Version)) }
