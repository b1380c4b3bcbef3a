package kafka

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/sluicedata/sluice/offsetlog"
)

// commitTimeout bounds what monitoring may cost a batch.
const commitTimeout = 5 * time.Second

// Committed writes the ranges' ends as offsets of the group GroupID, where monitoring tools see them. They are never read
// back: losing them, or having them overwritten by another member of the group, changes nothing.
func (s *Source) Committed(ctx context.Context, _ int64, ranges []offsetlog.Range) error {
	if s.cfg.GroupID == "" {
		return nil
	}
	offsets := kadm.Offsets{}
	for _, r := range ranges {
		p, err := parsePartition(r.Partition)
		if err != nil {
			return fmt.Errorf("commit offsets to group %s: %w", s.cfg.GroupID, err)
		}
		if !slices.Contains(s.cfg.Topics, p.topic) { // kept only for its position
			continue
		}
		if o, ok := offsets.Lookup(p.topic, p.number); !ok || o.At < r.To {
			offsets.AddOffset(p.topic, p.number, r.To, -1)
		}
	}
	if len(offsets) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	if err := s.commit(ctx, offsets); err != nil {
		return fmt.Errorf("commit offsets to group %s, for monitoring: %w; "+
			"nothing depends on them, but a group of a name of its own (group) keeps them visible", s.cfg.GroupID, err)
	}
	return nil
}

// commit tries again while the group's coordinator is not ready.
func (s *Source) commit(ctx context.Context, offsets kadm.Offsets) error {
	admin := kadm.NewClient(s.cluster.client)
	for wait := backoffMin; ; wait = min(wait*2, backoffMax) {
		err := admin.CommitAllOffsets(ctx, s.cfg.GroupID, offsets)
		if err == nil || !kerr.IsRetriable(err) || sleep(ctx, wait) != nil {
			return err
		}
	}
}
