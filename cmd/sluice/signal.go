package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

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
