package files

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
)

// Restore loads the seen log and adds what the plans say. Adopted history replaces the seen log, durably, before it
// returns.
func (s *Source) Restore(ctx context.Context, history source.History) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isLexical() {
		return s.restoreLexical(history)
	}
	if history.Adopted {
		return s.adopt(ctx, history)
	}
	if err := s.log.load(ctx, &s.seen); err != nil {
		return err
	}
	kept := s.log.kept
	if history.First && kept > 0 {
		return &CorruptError{
			Store:   s.log.store.URL(),
			Problem: fmt.Sprintf("it holds the files of batches 0 to %d, but the pipeline has no past", kept-1),
			WayOut:  "restore the rest of the checkpoint from a backup, or remove this folder to read all files again",
		}
	}
	first, end := int64(-1), kept
	err := s.eachBatch(history, func(batch int64, entries []entry) {
		if first < 0 {
			first = batch
		}
		if batch >= kept {
			s.add(batch, entries)
			end = batch + 1
		}
	})
	if err != nil {
		return err
	}
	if err := s.log.complete(ctx, first, end); err != nil {
		return err
	}
	if err := s.noteRenamed(history); err != nil {
		return err
	}
	for key := range s.log.damaged {
		s.unsaid = append(s.unsaid, fmt.Sprintf("seen files: %s in %s was torn by a crash while it was written; nothing "+
			"depends on it", key, s.log.store.URL()))
	}
	return nil
}

// noteRenamed says it when the newest file read has a name that the path no longer gives: files that were read under such
// names are new ones under theirs now.
func (s *Source) noteRenamed(history source.History) error {
	if history.Batches == nil {
		return nil
	}
	newest := ""
	err := history.Batches(func(_ int64, ranges []offsetlog.Range) error {
		if len(ranges) > 0 {
			newest = ranges[len(ranges)-1].Partition
		}
		return nil
	})
	if newest != "" && !strings.HasPrefix(newest, s.names.prefix()) {
		s.unsaid = append(s.unsaid, fmt.Sprintf("the source's path has changed: %s was read, and names begin with %q now; files that are still there "+
			"under a new name are read again", newest, s.names.prefix()))
	}
	return err
}

func (s *Source) adopt(ctx context.Context, history source.History) error {
	if history.Since > 0 {
		return fmt.Errorf("the table's log tells of the files of batches from %d on only, since the commits before have been cleaned up; "+
			"move the files that the table holds already out of the landing folder, and give the pipeline another name", history.Since)
	}
	var all []entry
	end := int64(0)
	err := s.eachBatch(history, func(batch int64, entries []entry) {
		end = batch + 1
		all = append(all, entries...)
		for _, e := range entries {
			s.seen.put(e)
		}
	})
	if err != nil {
		return err
	}
	return s.log.adopt(ctx, all, end)
}

func (s *Source) eachBatch(history source.History, fn func(batch int64, entries []entry)) error {
	if history.Batches == nil {
		return nil
	}
	return history.Batches(func(batch int64, ranges []offsetlog.Range) error {
		if err := s.checkOrder(ranges); err != nil {
			return err
		}
		entries, err := entriesOf(ranges)
		if err != nil {
			return fmt.Errorf("seen files: batch %d: %w", batch, err)
		}
		fn(batch, entries)
		return nil
	})
}

// add takes the files of a batch for seen, until Keep from its plan.
func (s *Source) add(batch int64, entries []entry) {
	s.pending = append(s.pending, batchEntries{batch: batch, entries: entries})
	for _, e := range entries {
		s.seen.put(e)
	}
}

// Advance takes the files of a recorded plan for seen.
func (s *Source) Advance(batch int64, ranges []offsetlog.Range) {
	entries, err := entriesOf(ranges)
	if err != nil {
		s.broken = fmt.Errorf("batch %d: %w", batch, err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isLexical() {
		s.broken = s.passLexical(ranges)
	} else {
		s.add(batch, entries)
	}
	s.dequeue(ranges)
}

// dequeue takes what is no longer waiting off the queue. A batch planned here is its beginning; after any other the
// folder has to be listed again.
func (s *Source) dequeue(ranges []offsetlog.Range) {
	for _, r := range ranges {
		if len(s.queue) == 0 || s.names.partition(s.queue[0].key) != r.Partition {
			s.queue, s.overflow, s.backlog = nil, false, nil
			return
		}
		s.backlog.advance(s.queue[0].version)
		s.queue = s.queue[1:]
	}
}

// Keep writes what the plans up to and including batch say to the seen log. When it has returned nil they may be
// deleted. It costs O(files of these batches), amortised.
func (s *Source) Keep(ctx context.Context, batch int64) error {
	if s.broken != nil {
		return s.broken
	}
	if s.isLexical() || batch < s.log.kept { // in lexical order the newest plan tells the position
		return nil
	}
	if n := len(s.pending); n == 0 || s.pending[n-1].batch < batch {
		return fmt.Errorf("seen files: keep batch %d: it has not been planned", batch)
	}
	if err := s.log.keep(ctx, s.pending, batch); err != nil {
		return err
	}
	kept := 0
	for kept < len(s.pending) && s.pending[kept].batch < s.log.kept {
		kept++
	}
	s.pending = append([]batchEntries(nil), s.pending[kept:]...)
	return nil
}

// Committed does nothing: no one watches a landing folder's position.
func (s *Source) Committed(context.Context, int64, []offsetlog.Range) error { return nil }
