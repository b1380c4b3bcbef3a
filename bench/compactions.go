package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// targetBytes is where the files end that a compaction makes: delta.targetFileSize if a table does not say.
const targetBytes = 128 << 20

// sluiceCompact is sluice compact of a table that has so many rows, with what was just written.
func (b *bench) sluiceCompact(g given, rows int64) contender {
	return b.compacting("sluice compact", g, rows, func(table string) []string { return b.compact(table) })
}

func (b *bench) compact(table string) []string {
	return []string{b.program, "compact", table, "--min-age", "0s"}
}

func (b *bench) deltalakeCompact(g given, rows int64) contender {
	return b.compacting("delta-rs optimize", g, rows, func(table string) []string {
		return b.script("compact_deltalake.py", table, strconv.Itoa(targetBytes))
	})
}

func (b *bench) sparkOptimize(g given, rows int64) contender {
	return b.compacting("Spark OPTIMIZE", g, rows, func(table string) []string {
		return b.script("spark_optimize.py", table, "1", strconv.Itoa(targetBytes))
	})
}

// orderedBy are the columns whose curve tables are put into the order of.
const orderedBy = "user_id,ts"

func (b *bench) sluiceOrder(g given, rows int64) contender {
	return b.compacting("sluice compact --zorder-by", g, rows, func(table string) []string {
		return append(b.compact(table), "--zorder-by", orderedBy)
	})
}

func (b *bench) sparkOrder(g given, rows int64) contender {
	return b.compacting("Spark OPTIMIZE ZORDER BY", g, rows, func(table string) []string {
		return b.script("spark_optimize.py", table, "1", strconv.Itoa(targetBytes), orderedBy)
	})
}

func (b *bench) deltalakeOrder(g given, rows int64) contender {
	return b.compacting("delta-rs z_order", g, rows, func(table string) []string {
		return b.script("zorder_deltalake.py", table, strconv.Itoa(targetBytes), orderedBy)
	})
}

func (b *bench) compacting(name string, g given, rows int64, command func(table string) []string) contender {
	return b.onto(g, contender{name: name, run: func(ctx context.Context, out string) (sample, error) {
		s, _, err := runProcess(ctx, pinned(1, command(filepath.Join(out, "table"))...))
		s.Records = rows
		return s, err
	}})
}

// besideCompaction is an ingestion on the first core, and meanwhile its table is compacted on the second, over and over.
func (b *bench) besideCompaction(name string, w work, flags ...string) contender {
	run := func(ctx context.Context, out string) (sample, error) {
		meanwhile, stop := context.WithCancel(ctx)
		compacted := make(chan error, 1)
		go func() {
			compacted <- b.compactUntil(meanwhile, append(b.compact(filepath.Join(out, "table")), flags...))
		}()
		s, _, err := b.runSluice(ctx, w, out, "--log-level", "warn")
		stop()
		return s, errors.Join(err, <-compacted)
	}
	return contender{name: name, disk: true, run: run}
}

// compactUntil runs a compaction again and again until the context ends. An error is a compaction's that failed before.
func (b *bench) compactUntil(ctx context.Context, compact []string) error {
	for {
		_, _, err := runProcess(ctx, pinnedTo("1", compact...))
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
	}
}

// arrivingAtOnce is what a run that goes on for ever takes for the files of an input that come all at once, behind the first of them: from the
// plan of the next on, until all are in the table.
func (b *bench) arrivingAtOnce(name string, w work) contender {
	run := func(ctx context.Context, out string) (sample, error) {
		landing, rest := filepath.Join(out, "landing"), filepath.Join(out, "rest")
		batches, err := b.landing(ctx, w, landing, rest)
		if err != nil {
			return sample{}, err
		}
		file, err := w.pipeline(out, input{folder: landing}.source())
		if err != nil {
			return sample{}, err
		}
		run, err := b.serve(ctx, file)
		if err != nil {
			return sample{}, err
		}
		defer run.kill()
		if _, err = run.until("committed"); err == nil {
			err = os.Rename(rest, filepath.Join(landing, "rest"))
		}
		if err == nil {
			_, err = run.until("planned")
		}
		if err != nil {
			return sample{}, err
		}
		s, err := run.during(func() (err error) {
			for i := 0; i < batches && err == nil; i++ {
				_, err = run.until("committed")
			}
			return err
		})
		s.Records = w.records / w.files * int64(batches)
		return s, err
	}
	return contender{name: name, disk: true, run: run}
}

// landing links the first file of an input into one folder, and the others into another, and returns how many these are.
func (b *bench) landing(ctx context.Context, w work, first, rest string) (int, error) {
	in, err := b.input(ctx, w.shape, w.records, w.files)
	if err != nil {
		return 0, err
	}
	names, err := filepath.Glob(filepath.Join(in.folder, "*"))
	err = errors.Join(err, os.MkdirAll(first, 0o777), os.MkdirAll(rest, 0o777))
	for i, name := range names {
		folder := rest
		if i == 0 {
			folder = first
		}
		if err == nil {
			err = os.Link(name, filepath.Join(folder, filepath.Base(name)))
		}
	}
	return len(names) - 1, err
}

// compactions are rewrites of many small files. Each contender leaves the same rows.
func (b *bench) compactions(files int64) []row {
	rows := files * rowsOfAFile
	own, foreign, deleted := b.ownFiles(files), b.deltalakeFiles(files), b.deletedFrom(files)
	means := fmt.Sprintf("%d files of %d rows", files, rowsOfAFile)
	return []row{
		pair("compact: own files", eventColumns, b.sluiceCompact(own, rows), b.deltalakeCompact(own, rows)).meaning(means),
		pair("compact: own files, beside Spark", eventColumns, b.sluiceCompact(own, rows), b.sparkOptimize(own, rows)).meaning(means).with("spark"),
		pair("compact: files of delta-rs", eventColumns, b.sluiceCompact(foreign, rows), b.deltalakeCompact(foreign, rows)).meaning(fmt.Sprintf("%d rows in files of 2048", rows)),
		pair("compact: own files with deletion vectors", eventColumns, b.sluiceCompact(deleted, rows), b.deltalakeCompact(deleted, rows)).meaning(means + ", one row of a hundred deleted"),
		pair("compact: own files, in Z-order", eventColumns, b.sluiceOrder(own, rows), b.deltalakeOrder(own, rows)).meaning(means + ", by " + orderedBy),
		pair("compact: own files, in Z-order, beside Spark", eventColumns, b.sluiceOrder(own, rows), b.sparkOrder(own, rows)).meaning(means + ", by " + orderedBy).with("spark"),
	}
}

// besideOwnCompaction is what a run takes that compacts its own table meanwhile. The table begins with small files.
func (b *bench) besideOwnCompaction(files int64, w work) row {
	own, compacting := b.ownFiles(files), w
	compacting.keeps = "compact: {min_files: 2, min_age: 0s}"
	return pair("ingestion beside its own compaction", eventColumns,
		b.onto(own, b.arrivingAtOnce("Sluice, no compaction", w)), b.onto(own, b.arrivingAtOnce("Sluice, maintenance.compact", compacting)),
	).meaning("of the run, on one core, for all files but the first")
}

// ingestion is what one takes whose table is compacted meanwhile. The table begins with small files.
func (b *bench) ingestion(files int64, w work) row {
	own := b.ownFiles(files)
	alone, beside := b.sluice("Sluice, no compaction", w), b.besideCompaction("Sluice, sluice compact on the second core", w)
	hurried := b.besideCompaction("the same, sluice compact --hurry", w, "--hurry")
	return row{
		name: "ingestion beside compaction", columns: eventColumns, contenders: []contender{b.onto(own, alone), b.onto(own, beside), b.onto(own, hurried)},
	}.meaning("of the ingestion, which has the first core")
}
