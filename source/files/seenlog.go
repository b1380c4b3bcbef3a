package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/sluicedata/sluice/storage"
)

// maxAttempts bounds how many torn segments of one name are stepped over, and how often a segment that another process
// merged away is looked for again.
const maxAttempts = 10

// seenLog is the durable part of the seen set: what plans that no longer exist said.
type seenLog struct {
	store   storage.Store
	epoch   int64
	kept    int64           // the batches before this one are in the log
	top     int64           // segments, readable or not, are there for batches before this one
	whole   map[string]bool // keys of segments that were found, or written, whole
	damaged map[string]bool // keys of segments that cannot be read and are not needed
}

func newSeenLog(store storage.Store) *seenLog {
	return &seenLog{store: store, whole: map[string]bool{}, damaged: map[string]bool{}}
}

// batchEntries is what one plan says.
type batchEntries struct {
	batch   int64
	entries []entry
}

// list returns all segments, and the highest epoch among them.
func (l *seenLog) list(ctx context.Context) (all []listed, epoch int64, err error) {
	err = l.store.List(ctx, "", "", func(info storage.Info) error {
		name, ok := parseSegmentName(info.Key)
		if !ok {
			return nil
		}
		count := max(0, info.Size-int64(segmentHeader+segmentTrailer)) / entryBytes
		all = append(all, listed{segmentName: name, count: int(min(count, math.MaxInt32))})
		epoch = max(epoch, name.epoch)
		return nil
	})
	if err != nil && !errors.Is(err, storage.ErrNotExist) {
		return nil, 0, fmt.Errorf("seen files: %w", err)
	}
	return all, epoch, nil
}

// load puts all that is kept into seen. Segments that cannot be read are passed over when others hold their batches;
// whether the plans do is for the caller to say, by calling complete.
func (l *seenLog) load(ctx context.Context, seen *seenSet) error {
	all, epoch, err := l.list(ctx)
	if err != nil {
		return err
	}
	l.epoch = epoch
	largest := 0
	for _, s := range all {
		if s.epoch == epoch {
			l.top = max(l.top, s.to)
			largest = max(largest, s.count)
		}
	}
	seen.reserve(largest)
	_, l.kept, err = cover(all, epoch, func(s listed) (bool, error) {
		seg, usable, err := l.tryRead(ctx, s.segmentName)
		for i := range seg.len() {
			seen.put(seg.at(i))
		}
		return usable, err
	})
	return err
}

// tryRead reads a segment, and tells whether it is whole.
func (l *seenLog) tryRead(ctx context.Context, n segmentName) (segment, bool, error) {
	seg, err := l.read(ctx, n)
	var corrupt *CorruptError
	switch {
	case errors.As(err, &corrupt):
		l.damaged[n.key()] = true
		return segment{}, false, nil
	case err != nil:
		return segment{}, false, err
	}
	l.whole[n.key()] = true
	return seg, true, nil
}

// usable tells whether a segment is whole; it is read only when it is another process's.
func (l *seenLog) usable(ctx context.Context, n segmentName) (bool, error) {
	if known := l.whole[n.key()]; known || l.damaged[n.key()] {
		return known, nil
	}
	_, usable, err := l.tryRead(ctx, n)
	return usable, err
}

// complete checks that the kept batches and the plans of batches [first, end) leave no batch out. first is negative when
// there are no plans.
func (l *seenLog) complete(ctx context.Context, first, end int64) error {
	switch {
	case first > l.kept:
		return l.hole(ctx, l.kept, first)
	case end < l.top:
		return l.hole(ctx, end, l.top)
	default:
		return nil
	}
}

// hole is the error for batches that neither plans nor readable segments hold.
func (l *seenLog) hole(ctx context.Context, from, to int64) error {
	for key := range l.damaged {
		if n, _ := parseSegmentName(key); n.from < to && n.to > from {
			if _, err := l.read(ctx, n); err != nil {
				return err
			}
		}
	}
	return l.corrupt("", fmt.Sprintf("no plan and no segment says which files batches %d to %d read", from, to-1))
}

// read returns a verified segment.
func (l *seenLog) read(ctx context.Context, n segmentName) (segment, error) {
	b, err := l.store.Get(ctx, n.key())
	if err != nil {
		return segment{}, fmt.Errorf("seen files: %w", err)
	}
	seg, err := openSegment(n, b)
	if errors.Is(err, errNewerSegment) {
		return segment{}, fmt.Errorf("seen files: read %s of %s: %w", n.key(), l.store.URL(), err)
	}
	if err != nil {
		return segment{}, l.corrupt(n.key(), err.Error())
	}
	return seg, nil
}

// keep makes what the plans up to and including batch through say durable. pending holds them from the last kept one
// on, in order.
func (l *seenLog) keep(ctx context.Context, pending []batchEntries, through int64) error {
	for attempt := 0; ; attempt++ {
		done, err := l.keepOnce(ctx, pending, through)
		if errors.Is(err, storage.ErrNotExist) && attempt < maxAttempts {
			continue // another process has merged what was to be merged here
		}
		if err != nil {
			return err
		}
		l.kept = done
		return nil
	}
}

func (l *seenLog) keepOnce(ctx context.Context, pending []batchEntries, through int64) (int64, error) {
	all, epoch, err := l.list(ctx)
	if err != nil {
		return 0, err
	}
	if epoch > l.epoch {
		return 0, fmt.Errorf("seen files: keep batch %d in %s: another process has adopted the table's record for this "+
			"pipeline; stop this process", through, l.store.URL())
	}
	chosen, end, err := cover(all, epoch, func(s listed) (bool, error) { return l.usable(ctx, s.segmentName) })
	switch {
	case err != nil:
		return 0, err
	case end < l.kept:
		return 0, l.corrupt("", fmt.Sprintf("the segment that holds batches %d to %d has gone while this process ran", end, l.kept-1))
	case end > through:
		return end, nil
	}
	var entries []entry
	for _, p := range pending {
		if p.batch >= end && p.batch <= through {
			entries = append(entries, p.entries...)
		}
	}
	entries = sortEntries(entries)
	inputs := mergeable(chosen, len(entries))
	name := segmentName{epoch: epoch, from: end, to: through + 1}
	for i := len(inputs) - 1; i >= 0; i-- {
		seg, err := l.read(ctx, inputs[i].segmentName)
		if err != nil {
			return 0, err
		}
		entries = mergeEntries(seg, entries)
		name.from = min(name.from, inputs[i].from)
	}
	name, err = l.put(ctx, name, entries)
	if err != nil {
		return 0, err
	}
	return name.to, l.clean(ctx, all, name)
}

// put writes a segment, under the next attempt's name where a damaged one has the name.
func (l *seenLog) put(ctx context.Context, name segmentName, entries []entry) (segmentName, error) {
	body := encodeSegment(name, entries)
	for ; name.attempt < maxAttempts; name.attempt++ {
		found, err := storage.Put(ctx, l.store, name.key(), body)
		if err != nil {
			return name, fmt.Errorf("seen files: %w", err)
		}
		if bytes.Equal(found, body) {
			l.whole[name.key()] = true
			return name, nil
		}
		if _, err := openSegment(name, found); err == nil {
			return name, fmt.Errorf("seen files: put %s of %s: it exists with other files in it: two pipelines use one "+
				"checkpoint, or plans were edited; give each pipeline a checkpoint of its own", name.key(), l.store.URL())
		}
		l.damaged[name.key()] = true
	}
	return name, l.corrupt(name.key(), "each attempt to write it left a part of it")
}

// clean removes what the durable segment contains.
func (l *seenLog) clean(ctx context.Context, all []listed, durable segmentName) error {
	for _, s := range all {
		if s.segmentName == durable || !durable.contains(s.segmentName) {
			continue
		}
		if err := l.store.Delete(ctx, s.key()); err != nil {
			return fmt.Errorf("seen files: %w", err)
		}
		delete(l.whole, s.key())
		delete(l.damaged, s.key())
	}
	return nil
}

// adopt begins a new epoch that holds exactly the given entries, as those of the batches before end.
func (l *seenLog) adopt(ctx context.Context, entries []entry, end int64) error {
	_, epoch, err := l.list(ctx)
	if err != nil {
		return err
	}
	l.epoch, l.kept = epoch+1, end
	_, err = l.put(ctx, segmentName{epoch: l.epoch, to: end}, sortEntries(entries))
	return err
}

// CorruptError is a seen log that cannot be trusted.
type CorruptError struct {
	Store   string // URL of the bookkeeping store
	Key     string // the segment at fault; empty when one is missing
	Problem string
	WayOut  string
}

func (e *CorruptError) Error() string {
	at := "seen files: " + e.Store
	if e.Key != "" {
		at += ": " + e.Key
	}
	return at + ": " + e.Problem + "; " + e.WayOut
}

// Remedy is what to do about it.
func (e *CorruptError) Remedy() string { return e.WayOut }

func (l *seenLog) corrupt(key, problem string) error {
	return &CorruptError{Store: l.store.URL(), Key: key, Problem: problem, WayOut: "restore the checkpoint from a backup, " +
		"or let the run go on from the table's own record with --adopt-table"}
}
