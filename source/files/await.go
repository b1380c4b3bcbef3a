package files

import (
	"context"
	"time"
)

// Await waits for all of the time: nothing tells of new files but a listing.
func (s *Source) Await(ctx context.Context, longest time.Duration) error {
	timer := time.NewTimer(longest)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
