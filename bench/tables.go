package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// given is a table that contenders find: its name among the inputs, and how it is made.
type given struct {
	name string
	make func(ctx context.Context, folder string) error
}

// once has a folder made among the inputs, or finds it where an earlier run has made it.
func (b *bench) once(name string, make func(folder string) error) (folder string, err error) {
	folder = filepath.Join(b.work, name)
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	fmt.Fprintf(os.Stderr, "make %s\n", folder)
	unfinished := folder + ".unfinished"
	err = errors.Join(os.RemoveAll(unfinished), os.MkdirAll(unfinished, 0o777))
	if err == nil {
		err = make(unfinished)
	}
	if err == nil {
		err = os.Rename(unfinished, folder)
	}
	if err != nil {
		return "", fmt.Errorf("make the input %s: %w", folder, err)
	}
	return folder, nil
}

// onto is a contender that finds a copy of a table in its folder. It works on a disk, which is where the copies share their data files.
func (b *bench) onto(g given, c contender) contender {
	do := c.run
	c.disk = true
	c.run = func(ctx context.Context, out string) (sample, error) {
		folder, err := b.once(g.name, func(folder string) error { return g.make(ctx, folder) })
		if err == nil {
			err = copyTable(filepath.Join(folder, "table"), filepath.Join(out, "table"))
		}
		if err != nil {
			return sample{}, err
		}
		return do(ctx, out)
	}
	return c
}

// copyTable copies a table's folder. Parquet files, which nobody changes, are linked.
func copyTable(from, to string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		switch {
		case e.IsDir():
			return os.MkdirAll(target, 0o777)
		case filepath.Ext(path) == ".parquet":
			return os.Link(path, target)
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, body, 0o666)
	})
}

// ownFiles is a table of so many files of 2,500 rows each that the program has written, a batch each.
func (b *bench) ownFiles(files int64) given {
	return given{fmt.Sprintf("table-own-%d", files), func(ctx context.Context, folder string) error {
		_, _, err := b.runSluice(ctx, ownWork(files), folder, "--log-level", "warn")
		return err
	}}
}

// rowsOfAFile is how many rows the small files of our own have.
const rowsOfAFile = 2500

func ownWork(files int64) work {
	return work{shape: shopEvents(), records: files * rowsOfAFile, files: files, codec: "snappy", batch: "max_files: 1", cores: 1}
}

// deletedFrom is the same with a row of a hundred deleted by deletion vectors.
func (b *bench) deletedFrom(files int64) given {
	own := b.ownFiles(files)
	return given{fmt.Sprintf("table-deleted-%d", files), func(ctx context.Context, folder string) error {
		from, err := b.once(own.name, func(folder string) error { return own.make(ctx, folder) })
		if err != nil {
			return err
		}
		table := filepath.Join(folder, "table")
		if err := copyTable(filepath.Join(from, "table"), table); err != nil {
			return err
		}
		return b.helper(ctx, "delete", table, "100")
	}}
}

// deltalakeFiles is a table of as many rows in files that delta-rs has written, of 2,048 rows each.
func (b *bench) deltalakeFiles(files int64) given {
	return given{fmt.Sprintf("table-deltalake-%d", files), func(ctx context.Context, folder string) error {
		w := ownWork(files)
		in, err := b.input(ctx, w.shape, w.records, 4)
		if err != nil {
			return err
		}
		columns, err := duckdbColumns(w.shape.columns)
		if err != nil {
			return err
		}
		const size = 200_000
		_, _, err = runProcess(ctx, b.script("write_deltalake.py", in.folder, filepath.Join(folder, "table"), columns, strconv.Itoa(size)))
		return err
	}}
}

// logOf is a table's log of so many files, without the files, in commits of a thousand; and with a log checkpoint by delta-rs in place of the commits.
func (b *bench) logOf(files int64, checkpoint bool) given {
	name := fmt.Sprintf("table-log-%d", files)
	if checkpoint {
		name += "-checkpoint"
	}
	return given{name, func(ctx context.Context, folder string) error {
		table := filepath.Join(folder, "table")
		err := b.helper(ctx, "fill", table, structOf(eventColumns), strconv.FormatInt(max(1, files/1000), 10), strconv.FormatInt(files, 10))
		if err != nil || !checkpoint {
			return err
		}
		if _, _, err := runProcess(ctx, b.script("checkpoint_deltalake.py", table)); err != nil {
			return err
		}
		return dropCommits(filepath.Join(table, "_delta_log"))
	}}
}

// dropCommits deletes the commits that a log's checkpoint stands for, but for the newest.
func dropCommits(log string) error {
	commits, err := filepath.Glob(filepath.Join(log, "*[0-9].json"))
	for _, c := range commits[:max(0, len(commits)-1)] {
		err = errors.Join(err, os.Remove(c))
	}
	return err
}

// helper runs one of the benchmark's own programs.
func (b *bench) helper(ctx context.Context, name string, args ...string) error {
	program, err := b.built(ctx, name)
	if err == nil {
		_, _, err = runProcess(ctx, append([]string{program}, args...))
	}
	return err
}
