package main

import (
	"context"
	"errors"
	"os"
)

// writeProfile has the program run the first row's work on one core, and write where its time went.
func (b *bench) writeProfile(ctx context.Context) (err error) {
	out, err := os.MkdirTemp(b.memory, "run-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(out)) }()
	w := work{shape: shopEvents(), records: b.records, files: 4, codec: "snappy", cores: 1}
	_, _, err = b.runSluice(ctx, w, out, "--log-level", "warn", "--pprof", b.profile)
	return err
}
