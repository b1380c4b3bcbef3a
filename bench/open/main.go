// Command open opens a table as a library does and lists its files, and prints how many there are and what that took, in
// seconds of time and of processor: open TABLE
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/sluicedata/sluice/bench/stopwatch"
	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/table"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "open:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%d arguments: it takes TABLE", len(args))
	}
	watch := stopwatch.Start()
	t := table.New(local.New(args[0]), table.Options{})
	s, err := t.Snapshot(ctx, table.Newest)
	if err != nil {
		return err
	}
	files, paths := 0, 0
	for f := range s.State().Files.Keys() {
		files++
		paths += len(f.Path)
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"wall": watch.Wall(), "cpu": watch.CPU(), "files": files, "path_bytes": paths,
	})
}
