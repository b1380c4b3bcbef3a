package files

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sluicedata/sluice/source"
	"github.com/sluicedata/sluice/storage/local"
)

// A batch is planned, its plan is recorded, and then it is read.
func Example() {
	if err := example(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// batch 0 reads landing/monday.ndjson [0, 18)
	// landing/monday.ndjson line 1: {"id":1}
	// landing/monday.ndjson line 2: {"id":2}
	// 0 files are left
}

func example(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Mkdir(filepath.Join(dir, "landing"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "landing", "monday.ndjson"), []byte("{\"id\":1}\n{\"id\":2}\n"), 0o644); err != nil {
		return err
	}

	root, pattern := SplitGlob("landing/*.ndjson")
	s, err := New(Config{
		Store:       local.New(filepath.Join(dir, root)),
		Pattern:     pattern,
		DisplayRoot: root,
		Framer:      lines{100},
		Bookkeeping: local.New(filepath.Join(dir, "checkpoint", "seen")),
	})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Restore(ctx, source.History{First: true}); err != nil {
		return err
	}
	planned, err := s.Next(ctx, source.Limits{MaxFiles: 1000})
	if err != nil {
		return err
	}
	fmt.Println("batch 0 reads", planned.Ranges[0])
	s.Advance(0, planned.Ranges)
	_, err = s.Read(ctx, planned.Ranges, func(b *source.Block) error {
		for i, value := range b.Values {
			fmt.Printf("%s line %d: %s\n", b.File.Path, b.Positions[i], value)
		}
		return nil
	})
	if err != nil {
		return err
	}
	planned, err = s.Next(ctx, source.Limits{})
	fmt.Println(len(planned.Ranges), "files are left")
	return err
}
