package files

import (
	"context"
	"fmt"
	"time"
)

// Bound makes Next plan no files but those that the folder holds now, so that a run over what is available ends although
// writers go on. Files that are too young are waited for, once: those that are still too young then are left alone.
func (s *Source) Bound(ctx context.Context) error {
	if s.broken != nil {
		return s.broken
	}
	if err := s.relist(ctx); err != nil {
		return err
	}
	if s.backlog.young > s.backlog.future {
		timer := time.NewTimer(s.settle)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for young files to settle: %w", context.Cause(ctx))
		}
		if err := s.relist(ctx); err != nil {
			return err
		}
	}
	s.bounded = true
	return nil
}
