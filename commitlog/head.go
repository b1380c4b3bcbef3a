package commitlog

import (
	"maps"
	"strings"
	"time"

	"github.com/sluicedata/sluice/schema"
)

// Head is what an appender has to know of a table at a version. It is a value: once returned, it and all that it refers
// to stay as they are.
type Head struct {
	Version  int64
	Protocol Protocol
	Metadata Metadata
	Apps     map[string]App            // by appId; also those that delta.setTransactionRetentionDuration says have expired
	Domains  map[string]DomainMetadata // those not removed

	// LastICT is the in-commit timestamp of the version, in ms since the epoch; 0 when the table has none.
	LastICT int64

	// LastTimestamp is the commitInfo.timestamp of the newest version that has one, in ms since the epoch.
	LastTimestamp int64

	table      string // URL
	schema     *schema.Type
	clustering clustering
	unwritable error      // why an append is refused
	checkpoint int64      // version of the log checkpoint that it was read from; -1 for none
	protocolAt int64      // version of the last protocol action
	metadataAt int64      // version of the last metaData action
	file       commitFile // of the version's commit
	tail       tail       // what there is behind the newest log checkpoint
}

// App is how far an application has got with the table, by its newest txn action.
type App struct {
	Batch        int64  // txn.version
	LastUpdated  int64  // ms since the epoch; 0 when the action has none
	Version      int64  // of the table, that the action came with; or Unlocated, or CleanedUp
	UserMetadata string // commitInfo.userMetadata of that version
	TxnID        string // commitInfo.txnId of that version
}

// Schema is the table's schema, a struct, with column mapping. It is shared: not to be changed.
func (h *Head) Schema() *schema.Type { return h.schema }

// Writable tells whether the table may be appended to: nil, or an *UnsupportedError that names what stands against it.
func (h *Head) Writable() error { return h.unwritable }

// TxnRetention is the table's delta.setTransactionRetentionDuration: how long other engines keep the record of an
// application's last batch after it was made. 0 means for ever, which is the default. A pipeline that pauses for longer
// than this loses the protection from committing a batch twice as soon as another engine writes a log checkpoint.
func (h *Head) TxnRetention() (time.Duration, error) {
	text, ok := h.Metadata.Configuration[propTxnRetention]
	if !ok {
		return 0, nil
	}
	return ParseInterval(text)
}

// next is the head after one more commit, whose file it is yet to be told of. It fails when the commit makes the table
// unreadable.
func (h *Head) next(c *Commit) (*Head, error) {
	if err := checkFirst(h.table, c); err != nil {
		return nil, err
	}
	n := *h
	if len(c.Txns) > 0 {
		n.Apps = maps.Clone(h.Apps)
	}
	if len(c.Domains) > 0 {
		n.Domains = maps.Clone(h.Domains)
	}
	n.apply(c)
	if c.Protocol != nil || c.Metadata != nil || c.setsClustering() {
		if err := n.gate(); err != nil {
			return nil, err
		}
	}
	return &n, nil
}

// wrote tells a head that nobody else has seen of the file of its version's commit.
func (h *Head) wrote(f commitFile) {
	h.file = f
	if h.Version > h.checkpoint {
		h.tail.commits++
		h.tail.bytes += f.bytes
	}
}

// apply reconciles one more commit into a head that nobody else has seen.
func (h *Head) apply(c *Commit) {
	h.Version = c.Version
	if c.Protocol != nil {
		h.Protocol, h.protocolAt = *c.Protocol, c.Version
	}
	if c.Metadata != nil {
		h.Metadata, h.metadataAt = c.Metadata.complete(), c.Version
	}
	if c.Info != nil && c.Info.Timestamp != 0 {
		h.LastTimestamp = c.Info.Timestamp
	}
	h.LastICT = 0
	if c.Info != nil && h.inCommitTimestamps() {
		h.LastICT = c.Info.InCommitTimestamp
	}
	applyTxns(h.Apps, c)
	applyDomains(h.Domains, c.Domains)
}

func applyTxns(apps map[string]App, c *Commit) {
	for _, t := range c.Txns {
		apps[t.AppID] = c.app(t)
	}
}

// app is what the commit tells of an application whose txn action it has.
func (c *Commit) app(t Txn) App {
	app := App{Batch: t.Version, LastUpdated: t.LastUpdated, Version: c.Version, TxnID: c.txnID()}
	if c.Info != nil {
		app.UserMetadata = c.Info.UserMetadata
	}
	return app
}

// inCommitTimestamps tells whether commits carry in-commit timestamps ("In-Commit Timestamps").
func (h *Head) inCommitTimestamps() bool { return inCommitTimestamps(h.Protocol, h.Metadata) }

func inCommitTimestamps(p Protocol, m Metadata) bool {
	return p.Supports(featureInCommitTimestamp) && isTrue(m.Configuration[propInCommitTimestamps])
}

func isTrue(property string) bool { return strings.EqualFold(property, "true") }
