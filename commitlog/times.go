package commitlog

import (
	"context"
	"fmt"
	"sort"
	"strconv"
	"time"

	"github.com/sluicedata/sluice/storage"
)

// Times tell when versions were committed, as engines agree on it for reading a table at a time: by in-commit timestamps from
// where the table has them on ("In-Commit Timestamps"), before that by the modification times of the commit files, each at
// least a millisecond after the one before.
type Times struct {
	log     *Log
	first   int64   // the first version of those up to the newest without a hole
	millis  []int64 // of first and those after it, by modification time
	inside  int64   // the first version with an in-commit timestamp, -1 when none has
	enabled int64   // its timestamp; 0 when the table does not say, since it was made with them
}

// Times lists the log. Errors are those of Refresh.
func (l *Log) Times(ctx context.Context) (*Times, error) {
	h, err := l.Refresh(ctx)
	if err != nil {
		return nil, err
	}
	t, err := l.newTimes(h)
	if err != nil {
		return nil, err
	}
	err = l.store.List(ctx, logDir, "", func(info storage.Info) error {
		if f, ok := parseKey(info.Key); ok && f.commit && f.version <= h.Version {
			t.take(f.version, info.Modified)
		}
		return nil
	})
	return t, err
}

// newTimes are those of no version yet.
func (l *Log) newTimes(h *Head) (*Times, error) {
	t := &Times{log: l, inside: -1}
	return t, t.readProperties(h)
}

// take takes in a commit's file and returns its time in ms since the epoch. They come in the order of versions; behind a hole they
// begin anew.
func (t *Times) take(version int64, modified time.Time) int64 {
	at := modified.UnixMilli()
	if n := int64(len(t.millis)); n == 0 || version != t.first+n {
		t.first, t.millis = version, t.millis[:0]
	} else {
		at = max(at, t.millis[n-1]+1)
	}
	t.millis = append(t.millis, at)
	return at
}

func (t *Times) readProperties(h *Head) error {
	if !h.inCommitTimestamps() {
		return nil
	}
	t.inside = 0
	for property, to := range map[string]*int64{propICTVersion: &t.inside, propICTTimestamp: &t.enabled} {
		text, has := h.Metadata.Configuration[property]
		if !has {
			continue
		}
		var err error
		if *to, err = strconv.ParseInt(text, 10, 64); err != nil {
			return t.log.corrupt(h.Version, "table property %s is %q, no number", property, text)
		}
	}
	return nil
}

// Of is when a commit was made; zero when neither it nor the log tells.
func (t *Times) Of(c *Commit) time.Time {
	i := c.Version - t.first
	switch {
	case t.inside >= 0 && c.Version >= t.inside && c.Info != nil && c.Info.InCommitTimestamp != 0:
		return time.UnixMilli(c.Info.InCommitTimestamp).UTC()
	case i >= 0 && i < int64(len(t.millis)):
		return time.UnixMilli(t.millis[i]).UTC()
	}
	return time.Time{}
}

// Version is the newest version that was committed at the time or before it. The error wraps ErrNoVersion when the log tells of
// none, or when the time is yet to come, so that another version may still be committed before it.
func (t *Times) Version(ctx context.Context, at time.Time) (int64, error) {
	if len(t.millis) == 0 {
		return 0, fmt.Errorf("table %s, at %s: %w: its commits have been cleaned up", t.log.store.URL(), at.Format(time.RFC3339Nano), ErrNoVersion)
	}
	n, err := t.upTo(ctx, at)
	if err != nil {
		return 0, err
	}
	return t.found(n, at)
}

// upTo is how many of the listed versions were committed at the time or before it.
func (t *Times) upTo(ctx context.Context, at time.Time) (int, error) {
	// Of the listed versions those before i are by modification time.
	i := len(t.millis)
	if t.inside >= 0 {
		i = int(min(max(t.inside-t.first, 0), int64(i)))
	}
	want := at.UnixMilli()
	if i == len(t.millis) || i > 0 && want < t.enabled {
		return sort.Search(i, func(j int) bool { return t.millis[j] > want }), nil
	}
	var failed error
	n := i + sort.Search(len(t.millis)-i, func(j int) bool {
		millis, err := t.inCommit(ctx, t.first+int64(i+j))
		if err != nil && failed == nil {
			failed = err
		}
		return millis > want
	})
	return n, failed
}

// inCommit is a version's in-commit timestamp.
func (t *Times) inCommit(ctx context.Context, version int64) (int64, error) {
	p, err := t.log.read(ctx, version, summary)
	if err != nil {
		return 0, err
	}
	if c := p.commit; c.Info == nil || c.Info.InCommitTimestamp == 0 {
		return 0, t.log.corrupt(version, "it has no in-commit timestamp, though %s is true", propInCommitTimestamps)
	}
	return p.commit.Info.InCommitTimestamp, nil
}

// found is the version behind which n of those listed lie.
func (t *Times) found(n int, at time.Time) (int64, error) {
	of := fmt.Sprintf("table %s, at %s", t.log.store.URL(), at.UTC().Format(time.RFC3339Nano))
	switch {
	case n == 0 && t.first == 0:
		return 0, fmt.Errorf("%s: %w: the table was created later", of, ErrNoVersion)
	case n == 0:
		return 0, fmt.Errorf("%s: %w: the commits of that time have been cleaned up; the oldest that is left is of version %d", of, ErrNoVersion, t.first)
	case n == len(t.millis) && at.After(t.log.now()):
		return 0, fmt.Errorf("%s: %w: that time is yet to come", of, ErrNoVersion)
	}
	return t.first + int64(n) - 1, nil
}
