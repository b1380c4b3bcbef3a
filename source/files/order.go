package files

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
)

// Order says which waiting file comes first, and by that what has to be remembered.
type Order string

const (
	// OrderModified is by modification time, then path. The zero value means the same. Every file read is remembered.
	OrderModified Order = "modified"
	// OrderLexical is by the bytes of the paths. All that is remembered is the last path planned: a listing begins behind
	// it, and what appears before it is never read.
	OrderLexical Order = "lexical"
)

// lexicalMark begins the id of a range that was planned in lexical order.
const lexicalMark = "lexical/"

// errEnough ends a listing in lexical order: the queue is full, or a file is young, behind which nothing may be planned yet.
var errEnough = errors.New("enough files")

func (s *Source) isLexical() bool { return s.order == OrderLexical }

// asRange is a candidate in a plan.
func (s *Source) asRange(c candidate) offsetlog.Range {
	r := c.asRange(s.names.partition(c.key))
	if s.isLexical() {
		r.ID = lexicalMark + r.ID
	}
	return r
}

// checkOrder refuses ranges that were planned in another order: which files they leave unread is not to be known.
func (s *Source) checkOrder(ranges []offsetlog.Range) error {
	for _, r := range ranges {
		was, now := OrderModified, OrderModified
		if strings.HasPrefix(r.ID, lexicalMark) {
			was = OrderLexical
		}
		if s.isLexical() {
			now = OrderLexical
		}
		if was != now {
			return fmt.Errorf("%s was planned with order: %s, and the pipeline's file says %s: set source.files.order back, or give the "+
				"pipeline another name, under which it reads all files again", r.Partition, was, now)
		}
	}
	return nil
}

// restoreLexical sets the position behind all that was ever planned, which the newest plan tells.
func (s *Source) restoreLexical(history source.History) error {
	if history.Batches == nil {
		return nil
	}
	return history.Batches(func(_ int64, ranges []offsetlog.Range) error {
		if err := s.checkOrder(ranges); err != nil {
			return err
		}
		return s.passLexical(ranges)
	})
}

// passLexical moves the position behind the ranges.
func (s *Source) passLexical(ranges []offsetlog.Range) error {
	for _, r := range ranges {
		key, err := s.names.key(r.Partition)
		if err != nil {
			return err
		}
		s.after = max(s.after, key)
	}
	return nil
}
