package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/source/files"
	"github.com/sluicedata/sluice/source/kafka"
)

// Exit codes, for those who run the program from a scheduler. docs/operating.md says what to do about each.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2 // the call or the pipeline file is wrong
	exitCorrupt = 3 // two records that must agree do not: checkpoint and table, or an audit's
	exitFenced  = 4 // another process runs the pipeline
	exitLost    = 5 // the source no longer has what was to be read
)

func exitCode(err error) int {
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, batch.ErrFenced):
		return exitFenced
	case is[*kafka.DataLostError](err), is[*kafka.RecreatedError](err), is[*kafka.TruncatedError](err), is[*kafka.DeletedError](err), is[*files.ChangedError](err):
		return exitLost
	case is[*batch.RefusedError](err), is[*batch.AuditError](err), is[*offsetlog.CorruptError](err), is[*commitlog.CorruptError](err), is[*files.CorruptError](err):
		return exitCorrupt
	case isUsage(err), is[pipeline.Faults](err), strings.HasPrefix(err.Error(), "unknown command"):
		return exitUsage
	default:
		return exitFailed
	}
}

func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

// stopOnSignal returns a context that ends at the first SIGINT or SIGTERM. The second one ends the process at once.
func stopOnSignal(ctx context.Context, stderr io.Writer) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s, open := <-signals
		if !open {
			return
		}
		fmt.Fprintf(stderr, "sluice: %v: stopping; once more to stop at once\n", s)
		cancel()
		if s, open := <-signals; open {
			os.Exit(128 + int(s.(syscall.Signal)))
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
		cancel()
	}
}
