package files

import (
	"context"
	"time"

	"github.com/sluicedata/sluice/source"
)

// Await waits for all of the time: nothing tells of new files but a listing.
func (s *Source) Await(ctx context.Context, longest time.Duration) error {
	return source.Pause(ctx, longest)
}
