package storage

import "context"

// Finish returns a context for what is to be finished though ctx ends, as the publishing of a batch is: it does not end
// with ctx. But once ctx has ended nothing is waited for under it, and nothing tried again.
func Finish(ctx context.Context) context.Context {
	return context.WithValue(context.WithoutCancel(ctx), finished{}, ctx)
}

type finished struct{}

// Stopping is closed when nothing is to be waited for any more: ctx has ended, or the one that it finishes.
func Stopping(ctx context.Context) <-chan struct{} {
	if outer, ok := ctx.Value(finished{}).(context.Context); ok {
		return outer.Done()
	}
	return ctx.Done()
}

// Stops says whether Stopping is closed.
func Stops(ctx context.Context) bool {
	select {
	case <-Stopping(ctx):
		return true
	default:
		return false
	}
}
