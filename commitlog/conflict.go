package commitlog

import (
	"fmt"
	"slices"
	"strings"
)

// attempt is a transaction on its way into the log.
type attempt struct {
	tx      *Transaction
	commit  Commit // as it is to be put
	checked int64  // all versions up to this one are known not to conflict
	resumed bool   // an earlier call may have put it
	weak    bool   // the table lets rows be changed beside blind appends (WriteSerializable)

	own     int64 // the version that holds it; -1 while none is known to
	stored  bool  // the newest put said so
	pending bool  // the outcome of the put at version putAt is not known
	putAt   int64
	putErr  error
	puts    int
	silent  int // puts in a row that told nothing
}

// see takes note of a commit that came first, in order of version, and refuses those that the transaction cannot follow.
func (a *attempt) see(w *Commit) error {
	if w.txnID() == a.commit.Info.TxnID {
		a.own, a.pending = w.Version, false
	}
	if a.own >= 0 {
		return nil
	}
	if w.Version == a.putAt {
		a.pending = false
	}
	if reason := a.conflict(w); reason != "" {
		return &ConflictError{Version: w.Version, Reason: reason}
	}
	return nil
}

// read takes note of the table's isolation level. If others change it meanwhile, their change of metadata is judged.
func (a *attempt) read(h *Head) {
	a.weak = !a.tx.Whole && strings.EqualFold(h.Metadata.Configuration[propIsolation], isolationWriteSerializable)
	if own := a.tx.Actions.Info; a.weak && !a.rearranges() && (own == nil || own.IsolationLevel == "") {
		a.commit.Info.IsolationLevel = isolationWriteSerializable
	}
}

// conflict says why the transaction cannot follow a commit, judged by that commit's actions alone. What changes of
// protocol and metadata mean, and whose batch is whose, is judged by the head after it. It is section "Conflict
// Resolution" as Spark's ConflictChecker does it, with the whole table taken as read by a transaction that is not blind
// and changes rows, or is Whole. If the table is WriteSerializable, such a transaction may come after blind appends that it has not seen,
// unless it changes the table's metadata or is Whole.
func (a *attempt) conflict(w *Commit) string {
	for _, d := range a.commit.Domains {
		if a.checked != NoTable && slices.ContainsFunc(w.Domains, func(o DomainMetadata) bool { return o.Domain == d.Domain }) {
			return fmt.Sprintf("it changes the domain %q too", d.Domain)
		}
	}
	if a.tx.Blind {
		return ""
	}
	if a.tx.Whole && len(w.Domains) > 0 {
		return fmt.Sprintf("it changes the domain %q", w.Domains[0].Domain)
	}
	unseen := a.weak && a.commit.Metadata == nil && w.blindAppend()
	if !a.rearranges() && (a.changesFiles() || a.tx.Whole) && !unseen && len(w.Adds)+len(w.Removes) > 0 {
		return "it changes files that this transaction may have read"
	}
	removed := make(map[string]bool, len(a.commit.Removes))
	for i := range a.commit.Removes {
		removed[CanonicalPath(a.commit.Removes[i].Path)] = true
	}
	for i := range w.Removes {
		if removed[CanonicalPath(w.Removes[i].Path)] {
			return "it removes " + w.Removes[i].Path + " too"
		}
	}
	for i := range w.Adds {
		if removed[CanonicalPath(w.Adds[i].Path)] {
			return "it replaces " + w.Adds[i].Path + ", which this transaction removes"
		}
	}
	return ""
}

// blindAppend tells whether the commit only adds, and says that it was made without reading.
func (c *Commit) blindAppend() bool {
	return len(c.Removes) == 0 && c.Info != nil && c.Info.IsBlindAppend != nil && *c.Info.IsBlindAppend
}

func (a *attempt) changesFiles() bool { return len(a.commit.Adds)+len(a.commit.Removes) > 0 }

// judge decides whether the transaction may be put right after h.
func (a *attempt) judge(h *Head) error {
	if err := a.judgeChange(h); err != nil {
		return err
	}
	a.checked = h.Version
	if h.Version < 0 {
		return nil
	}
	if err := h.Writable(); err != nil {
		return err
	}
	return a.judgeActions(h)
}

// judgeChange decides what a protocol or metadata of others since the transaction's own view means.
func (a *attempt) judgeChange(h *Head) error {
	at := max(h.protocolAt, h.metadataAt)
	if h.Version < 0 || at <= a.checked {
		return nil
	}
	conflict := &ConflictError{Version: at, Reason: "it changes the table's protocol or metadata"}
	if a.checked == NoTable {
		conflict.Reason = "somebody else has created the table"
		a.commit.Protocol, a.commit.Metadata, a.commit.Domains = nil, nil, nil
	}
	if !a.tx.Blind || a.tx.Validate == nil || a.commit.Protocol != nil || a.commit.Metadata != nil {
		return conflict
	}
	if err := h.Writable(); err != nil {
		return err
	}
	return a.tx.Validate(h)
}

// judgeActions holds the actions against what the table allows.
func (a *attempt) judgeActions(h *Head) error {
	if isTrue(h.Metadata.Configuration[propAppendOnly]) &&
		slices.ContainsFunc(a.commit.Removes, func(r Remove) bool { return r.DataChange }) {
		return fmt.Errorf("commit to table %s: %s is true, and the transaction removes rows; only appends and compactions are allowed", h.table, propAppendOnly)
	}
	turnsOn := a.commit.Metadata != nil && isTrue(a.commit.Metadata.Configuration[propInCommitTimestamps]) &&
		!isTrue(h.Metadata.Configuration[propInCommitTimestamps])
	if turnsOn {
		return &UnsupportedError{
			Table: h.table, Features: []string{featureInCommitTimestamp}, For: gateWriting,
			Detail: "they can be turned on only when a table is created",
		}
	}
	if h.inCommitTimestamps() && h.LastICT == 0 {
		return &CorruptError{Table: h.table, Version: h.Version, Reason: "it has no in-commit timestamp, though " + propInCommitTimestamps + " is true"}
	}
	return nil
}

// judgeResult holds the actions against the head that they lead to. Like Spark, it refuses adds whose partition values are
// not those of exactly the table's partition columns.
func (a *attempt) judgeResult(h *Head) error {
	if len(a.commit.Domains) > 0 && !h.Protocol.Supports(featureDomainMetadata) {
		return &UnsupportedError{
			Table: h.table, Features: []string{featureDomainMetadata}, For: gateWriting,
			Detail: "the protocol lacks it, and the transaction sets the domain " + a.commit.Domains[0].Domain,
		}
	}
	columns := h.storedPartitionColumns()
	for i := range a.commit.Adds {
		f := &a.commit.Adds[i]
		fits := len(f.PartitionValues) == len(columns)
		for _, c := range columns {
			_, has := f.PartitionValues[c]
			fits = fits && has
		}
		if !fits {
			return fmt.Errorf("commit to table %s: add %s: its partition values are not those of the partition columns %q", h.table, f.Path, columns)
		}
	}
	return nil
}
