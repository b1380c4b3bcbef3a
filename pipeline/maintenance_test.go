package pipeline_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/storagetest"
)

const everyCommit = "  properties: {delta.checkpointInterval: \"1\"}\n"

// logCheckpoints are the names of a table's log checkpoints.
func logCheckpoints(t testing.TB, table string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(table, "_delta_log", "*.checkpoint.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestARunWritesLogCheckpointsOfItsTables(t *testing.T) {
	in := landing(t, 103, 8)
	for name, tt := range map[string]struct {
		extra       string
		table, bad  int // log checkpoints of the table, and of the quarantine table
		atLeastOnce bool
	}{
		"a hundred commits are worth one": {quarantined + "batch: {max_files: 1}\n", 1, 1, false},
		"fewer are not":                   {quarantined + "batch: {max_files: 2}\n", 0, 0, false},
		"off":                             {quarantined + "batch: {max_files: 1}\nmaintenance: {checkpoint: \"off\"}\n", 0, 0, false},
		"the table's interval":            {everyCommit + quarantined + "batch: {max_files: 50}\n", 1, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, in, tt.extra)
			var told []batch.Maintained
			events := batch.Events{Maintained: func(d batch.Maintained) { told = append(told, d) }}
			if err := w.run(t.Context(), pipeline.BuildOptions{Events: events}); err != nil {
				t.Fatal(err)
			}
			table, bad := logCheckpoints(t, w.file.Table.Path), logCheckpoints(t, w.file.QuarantinePath())
			if len(told) != len(table)+len(bad) || len(bad) != tt.bad || len(table) != tt.table && !(tt.atLeastOnce && len(table) > tt.table) {
				t.Errorf("%d and %d log checkpoints, and told of %+v", len(table), len(bad), told)
			}
			for _, d := range told {
				if d.Err != nil || d.Work != "checkpoint" || d.Files != d.Version+1 || d.Bytes == 0 {
					t.Errorf("told of %+v", d)
				}
			}
			w.check(t)
		})
	}
}

func TestALogCheckpointThatFailsIsToldAndTheRunGoesOn(t *testing.T) {
	in := landing(t, 30, 8)
	in.yaml += "  format: {json: {max_record_bytes: 1MiB}}\n"
	refused := func(_ string, s storage.Store) storage.Store {
		return storage.Wrap(s, func(op *storage.Op, call func() error) error {
			if op.Name == "publish" && commitlog.InLog(op.Key) {
				return errors.New("no quota for log checkpoints")
			}
			return call()
		})
	}
	for name, tt := range map[string]struct {
		wrap func(string, storage.Store) storage.Store
		held int64 // of the budget, by others
		want string
	}{
		"storage": {refused, 0, "no quota for log checkpoints"},
		"memory":  {nil, 64 << 20, "writing it takes 5MiB of memory, and 4MiB are free; raise memory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, in, everyCommit+"on_error: skip\nbatch: {max_files: 1}\nmemory: 128MiB\n")
			var told []batch.Maintained
			events := batch.Events{Maintained: func(d batch.Maintained) { told = append(told, d) }}
			p, err := pipeline.Build(w.file, pipeline.BuildOptions{Wrap: tt.wrap, Events: events})
			if err != nil {
				t.Fatal(err)
			}
			p.Memory.Open("others", 0).Add(tt.held)
			if err := errors.Join(p.Engine.Run(t.Context()), p.Close()); err != nil {
				t.Fatal(err)
			}
			if n := len(told); n < 1 || n > 2 { // behind the first commits, and twenty later
				t.Errorf("it was tried %d times", n)
			}
			for _, d := range told {
				if want := "log checkpoint of table " + w.file.Table.Path; d.Err == nil || !strings.HasPrefix(d.Err.Error(), want) || !strings.Contains(d.Err.Error(), tt.want) {
					t.Errorf("told of %v", d.Err)
				}
			}
			if n := len(logCheckpoints(t, w.file.Table.Path)); n > 0 {
				t.Errorf("%d log checkpoints", n)
			}
			w.check(t)
		})
	}
}

// TestARunMayDieAnywhereInALogCheckpoint dies, or is lied to, at each storage operation of a run that writes log checkpoints of both its
// tables beside its batches. What is torn and what comes twice is tried in package commitlog.
func TestARunMayDieAnywhereInALogCheckpoint(t *testing.T) {
	in := landing(t, 1, 9)
	for _, mode := range []storagetest.Mode{storagetest.After, storagetest.Lost, storagetest.Late} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			points := crashLoop(t, in, everyCommit+quarantined+"batch: {max_files: 1}\n", mode, 6)
			t.Logf("%d crash points, every %d. tried", points, stride)
		})
	}
}

func TestAStopDoesNotWaitForALogCheckpoint(t *testing.T) {
	w := newWorld(t, landing(t, 3, 9), everyCommit+"on_error: skip\nbatch: {max_files: 1}\n")
	ctx, stop := context.WithCancel(t.Context())
	held := func(_ string, s storage.Store) storage.Store {
		return storage.Wrap(s, func(op *storage.Op, call func() error) error {
			if op.Name == "stage" && commitlog.InLog(op.Key) {
				stop()
				<-ctx.Done()
				return ctx.Err()
			}
			return call()
		})
	}
	var told []batch.Maintained
	events := batch.Events{Maintained: func(d batch.Maintained) { told = append(told, d) }}
	if err := w.run(ctx, pipeline.BuildOptions{Wrap: held, Events: events}); err != nil || len(told) > 0 {
		t.Errorf("%v, and told of %+v", err, told)
	}
	w.mustRun(t)
	w.check(t)
}

// TestTablesAreReadFromTheLogCheckpointsOfTheirRunAlone takes the commits away that they stand for.
func TestTablesAreReadFromTheLogCheckpointsOfTheirRunAlone(t *testing.T) {
	w := newWorld(t, landing(t, 4, 9), everyCommit+quarantined+"batch: {max_files: 1}\n")
	w.mustRun(t)
	want := w.column(t, w.file.Table.Path, "id")
	commits, err := filepath.Glob(filepath.Join(w.file.Table.Path, "_delta_log", "*.json"))
	if err != nil || len(commits) != 4 {
		t.Fatal(commits, err)
	}
	for _, name := range commits {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	compare(t, "rows", w.column(t, w.file.Table.Path, "id"), want)
	w.mustRun(t) // the plans know of the newest commit
	compare(t, "rows after another run", w.column(t, w.file.Table.Path, "id"), want)
}

func TestMaintenanceOfAFile(t *testing.T) {
	const base = "name: x\nsource: {files: {path: landing}}\ntable: {path: lake/t}\n"
	none := pipeline.Maintenance{Checkpoint: pipeline.Auto}
	compacts := func(c pipeline.Compact) pipeline.Maintenance {
		return pipeline.Maintenance{Checkpoint: pipeline.Auto, Compact: c}
	}
	vacuums := func(every time.Duration) pipeline.Maintenance {
		return pipeline.Maintenance{Checkpoint: pipeline.Auto, Vacuum: pipeline.Vacuum{Every: every}}
	}
	for text, want := range map[string]pipeline.Maintenance{
		"":                                     none,
		"maintenance: {checkpoint: auto}\n":    none,
		"maintenance: {checkpoint: \"off\"}\n": {Checkpoint: pipeline.Off},
		"maintenance: {compact: \"off\", vacuum: \"off\"}\n":    none,
		"maintenance: {compact: auto}\n":                        compacts(pipeline.Compact{MinFiles: 50, MinAge: 5 * time.Minute}),
		"maintenance: {compact: {min_age: 1h}}\n":               compacts(pipeline.Compact{MinFiles: 50, MinAge: time.Hour}),
		"maintenance: {compact: {min_files: 9, min_age: 0s}}\n": compacts(pipeline.Compact{MinFiles: 9}),
		"maintenance: {vacuum: auto}\n":                         vacuums(24 * time.Hour),
		"maintenance: {vacuum: {every: 168h}}\n":                vacuums(7 * 24 * time.Hour),
	} {
		if f, err := pipeline.Parse("p.yaml", []byte(base+text), nil); err != nil || f.Maintenance != want {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, want := range map[string][]string{
		"maintenance: {checkpoint: off}\n": {`maintenance.checkpoint: off without quotes is a boolean in YAML, and text is expected; write it in quotes: "off"`},
		"maintenance: {compact: often, checkpoint: never, vacuum: {every: 1s}}\n": {
			`maintenance.compact: "often" is not known here; write one of auto, off`,
			`maintenance.checkpoint: "never" is not known here; write one of auto, off`,
			"maintenance.vacuum.every: is less than 1m0s; write a duration such as 24h",
		},
		"maintenance: {compact: {min_files: 1, min_age: 5, target: 1}}\n": {
			`maintenance.compact.min_files: "1" is less than 2; write a value such as 50`,
			`maintenance.compact.min_age: "5" is a number without a unit; write a duration such as 5m`,
			`maintenance.compact.target: unknown key "target"; known here: min_files, min_age`,
		},
		"maintenance: {checkpoints: \"off\"}\n": {`maintenance.checkpoints: unknown key "checkpoints"; did you mean "checkpoint"?`},
		"maintenance: auto\n":                   {"maintenance: is a single value where a mapping is expected; write a mapping with compact, checkpoint, vacuum"},
	} {
		_, err := pipeline.Parse("p.yaml", []byte(base+text), nil)
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%q: %v, without %q", text, err, w)
			}
		}
	}
}

func TestARunWritesLogCheckpointsInS3(t *testing.T) {
	c := newCloud(t, 3, 9, nil)
	w := c.world(t, "interval", everyCommit+quarantined+"batch: {max_files: 1}\n")
	newest := int64(-1)
	events := batch.Events{Maintained: func(d batch.Maintained) {
		if d.Err != nil || d.Table != w.file.Table.Path {
			t.Errorf("told of %+v", d)
		}
		newest = d.Version
	}}
	if err := w.run(t.Context(), pipeline.BuildOptions{Events: events}); err != nil {
		t.Fatal(err)
	}
	if newest != 2 {
		t.Errorf("the newest log checkpoint is of version %d", newest)
	}
	w.check(t) // from the log checkpoint, as any reader
	w.eventually(t, w.run(t.Context(), pipeline.BuildOptions{}))
}
