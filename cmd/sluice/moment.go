package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicedata/sluice/table"
)

// moment is which version of a table is meant: one by its number, or that of a time.
type moment struct {
	version int64
	at      string
}

func (m *moment) flags(cmd *cobra.Command) {
	cmd.Flags().Int64Var(&m.version, "version", table.Newest, "version of the table; -1: the newest")
	cmd.Flags().StringVar(&m.at, "at", "", "the version at that time: 2026-11-29T21:07:39Z, or a date, which begins in UTC")
}

// number is what --version says.
func (m *moment) number() (int64, error) {
	if m.version < table.Newest {
		return 0, usageError{fmt.Errorf("--version %d: write a number from 0 on, or -1 for the newest", m.version)}
	}
	return m.version, nil
}

// time is what --at says.
func (m *moment) time() (time.Time, error) {
	if m.version != table.Newest {
		return time.Time{}, usageError{fmt.Errorf("--version %d --at %q: write one of the two", m.version, m.at)}
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, m.at); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usageError{fmt.Errorf("--at %q: write a time such as 2026-11-29T21:07:39Z, or a date such as 2026-11-29", m.at)}
}

// snapshot reads which files the table has at the moment.
func (m *moment) snapshot(ctx context.Context, t *table.Table) (*table.Snapshot, error) {
	if m.at == "" {
		n, err := m.number()
		if err != nil {
			return nil, err
		}
		return t.Snapshot(ctx, n)
	}
	at, err := m.time()
	if err != nil {
		return nil, err
	}
	return t.SnapshotAt(ctx, at)
}

// openSnapshot reads which files the table at a path has at a moment.
func openSnapshot(ctx context.Context, path string, m moment) (*table.Snapshot, error) {
	t, err := openTable(path)
	if err != nil {
		return nil, err
	}
	s, err := m.snapshot(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("read table %s: %w", path, err)
	}
	return s, nil
}
