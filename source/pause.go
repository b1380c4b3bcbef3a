package source

import (
	"context"
	"time"
)

// Pause waits so long, or until ctx ends, whose error it returns then.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
