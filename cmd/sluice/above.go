package main

import (
	"context"
	"log/slog"
)

// aboveLine is a log handler that takes the progress line away before it writes.
type aboveLine struct {
	slog.Handler
	line *progressLine
}

func (h *aboveLine) Handle(ctx context.Context, r slog.Record) error {
	h.line.clear()
	return h.Handler.Handle(ctx, r)
}

func (h *aboveLine) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &aboveLine{h.Handler.WithAttrs(attrs), h.line}
}

func (h *aboveLine) WithGroup(name string) slog.Handler {
	return &aboveLine{h.Handler.WithGroup(name), h.line}
}
