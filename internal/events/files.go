package events

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
)

// Landing says how records are laid out, in files or in a topic.
type Landing struct {
	Records  int64 // good ones
	Files    int   // files of about equal numbers of records; at least 1. Not for topics
	Gzip     bool  // .ndjson.gz in place of .ndjson. Not for topics
	BadEvery int64 // a bad record after every so many good ones; 0 for none
}

// WriteFiles lands the next records in dir, which it makes when it is missing. Each file is written under a temporary
// name that begins with a dot, synced, and renamed, so that nobody sees a part of one. Files of the same names are
// replaced.
func WriteFiles(ctx context.Context, g *Generator, dir string, l Landing) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("make the landing folder: %w", err)
	}
	files := int64(max(l.Files, 1))
	for i := range files {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("generate into %s: %w", dir, err)
		}
		n := l.Records*(i+1)/files - l.Records*i/files
		name := fmt.Sprintf("events-%05d.ndjson", i)
		if l.Gzip {
			name += ".gz"
		}
		if err := writeFile(filepath.Join(dir, name), g, n, l); err != nil {
			return fmt.Errorf("generate %s: %w", name, err)
		}
	}
	return nil
}

func writeFile(path string, g *Generator, records int64, l Landing) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err = f.Chmod(0o644); err != nil {
		return err
	}
	if err = writeRecords(f, g, records, l); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func writeRecords(f io.Writer, g *Generator, records int64, l Landing) error {
	out := bufio.NewWriterSize(f, 1<<20)
	w, closeFormat := io.Writer(out), func() error { return nil }
	if l.Gzip {
		z := gzip.NewWriter(out)
		w, closeFormat = z, z.Close
	}
	var line []byte
	for range records {
		line = g.appendLanding(line[:0], l.BadEvery)
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	if err := closeFormat(); err != nil {
		return err
	}
	return out.Flush()
}

// appendLanding appends the next record, and a bad one behind it when its turn has come.
func (g *Generator) appendLanding(buf []byte, badEvery int64) []byte {
	buf = g.Append(buf)
	if badEvery > 0 && g.tally.records%badEvery == 0 {
		buf = g.AppendBad(buf)
	}
	return buf
}
