package commitlog

import (
	"strings"
	"time"
)

const (
	propLogRetention  = "delta.logRetentionDuration"
	propExpiredLog    = "delta.enableExpiredLogCleanup"
	logRetention      = 30 * 24 * time.Hour // unless the table says otherwise
	leastLogRetention = time.Hour           // a put may be under way for trustHead and as long as a request to storage is valid
)

// LogRetention is for how long commits stay at least: the table's delta.logRetentionDuration, 30 days by default. It is no less than
// DeletedFileRetention, since a vacuum tells by commits what was removed, and an hour: a writer that last looked at the log as long
// ago could put a version that has been deleted, and nobody would see it.
func (h *Head) LogRetention() (time.Duration, error) {
	files, err := h.DeletedFileRetention()
	if err != nil {
		return 0, err
	}
	keep := logRetention
	if text, set := h.Metadata.Configuration[propLogRetention]; set {
		if keep, err = ParseInterval(text); err != nil {
			return 0, err
		}
	}
	return max(keep, files, leastLogRetention), nil
}

// keepsLog says why a table's log is not to be cleaned up at all, empty if it may be.
func (h *Head) keepsLog() string {
	switch {
	case strings.EqualFold(h.Metadata.Configuration[propExpiredLog], "false"):
		return propExpiredLog + " is false"
	case h.Protocol.Supports(featureCheckpointProtect):
		return "the table's feature " + featureCheckpointProtect + " keeps it"
	}
	return ""
}

// midnight is the beginning of a time's day in UTC.
func midnight(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
