package commitlog

import "time"

// Commit is the content of one commit file, or what is to become one. The order of the actions inside a kind is kept;
// between kinds it has no meaning.
type Commit struct {
	Version  int64
	Info     *CommitInfo
	Protocol *Protocol
	Metadata *Metadata
	Txns     []Txn
	Domains  []DomainMetadata
	Removes  []Remove
	Adds     []Add
	CDCs     []CDC
}

// Txn returns the commit's txn action of an application.
func (c *Commit) Txn(appID string) (Txn, bool) {
	for _, t := range c.Txns {
		if t.AppID == appID {
			return t, true
		}
	}
	return Txn{}, false
}

// Time is when the commit was made, as it says itself: its in-commit timestamp, or its commitInfo's clock. Zero when it
// does not say.
func (c *Commit) Time() time.Time {
	switch {
	case c.Info == nil:
		return time.Time{}
	case c.Info.InCommitTimestamp != 0:
		return time.UnixMilli(c.Info.InCommitTimestamp).UTC()
	case c.Info.Timestamp != 0:
		return time.UnixMilli(c.Info.Timestamp).UTC()
	}
	return time.Time{}
}

// txnID is the id of the transaction that wrote the commit, empty when it has none.
func (c *Commit) txnID() string {
	if c.Info == nil {
		return ""
	}
	return c.Info.TxnID
}
