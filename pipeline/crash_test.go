package pipeline_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/storage/storagetest"
)

// TestEveryRecordIsThereOnceWhereverTheProcessDies dies at, or is lied to about, every storage operation of a run over
// several batches, starts again, and looks.
func TestEveryRecordIsThereOnceWhereverTheProcessDies(t *testing.T) {
	inputs := map[string]*input{"files": landing(t, 5, 9), "kafka": topic(t, 2, 12)}
	variants := map[string]string{
		"plain":                      "on_error: skip\nbatch: {max_files: 2, max_records: 10}\n",
		"partitioned":                "  partition_by: [day]\non_error: skip\nbatch: {max_files: 2, max_records: 10}\n",
		"quarantine":                 quarantined + "batch: {max_files: 2, max_records: 10}\n",
		"partitioned and quarantine": "  partition_by: [day]\n" + quarantined + "batch: {max_files: 2, max_records: 10}\n",
	}
	for source, in := range inputs {
		for variant, extra := range variants {
			t.Run(source+" "+variant, func(t *testing.T) {
				t.Parallel()
				points := 0
				for _, mode := range storagetest.Modes {
					points += crashLoop(t, in, extra, mode, 1)
				}
				points += crashLoop(t, in, extra, storagetest.Late, 6)
				t.Logf("%d crash points, every %d. tried", points, stride)
			})
		}
	}
}

// crashLoop tries one mode at every operation of a run, and returns how many that were. What is late is so by delay more
// operations.
func crashLoop(t *testing.T, in *input, extra string, mode storagetest.Mode, delay int) int {
	for k := 0; ; k += stride {
		w := newWorld(t, in, extra)
		crash := &storagetest.Crash{At: k, Mode: mode, Tear: tearable, Delay: delay}
		options := pipeline.BuildOptions{Wrap: wrapAll(crash), KeepPlans: 2}
		err := w.run(t.Context(), options)
		if err == nil && !crash.Happened() {
			return k
		}
		for tries := 0; err != nil; tries++ {
			if tries == 3 {
				t.Fatalf("operation %d, %s: does not recover: %v", k, crash.Op, err)
			}
			err = w.run(t.Context(), pipeline.BuildOptions{KeepPlans: 2})
		}
		w.mustRun(t)
		w.check(t)
		if t.Failed() {
			t.Fatalf("after operation %d, %s", k, crash.Op)
		}
		if err := os.RemoveAll(w.dir); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEveryRecordIsThereOnceWhenRecoveryDiesAsWell dies at an operation of the first run and again at each operation of
// the run after it.
func TestEveryRecordIsThereOnceWhenRecoveryDiesAsWell(t *testing.T) {
	in := landing(t, 3, 8)
	extra := "  partition_by: [day]\n" + quarantined + "batch: {max_files: 1}\n"
	whole := &storagetest.Crash{At: -1}
	if err := newWorld(t, in, extra).run(t.Context(), pipeline.BuildOptions{Wrap: wrapAll(whole)}); err != nil {
		t.Fatal(err)
	}
	const steps = 9 // every so many operations of the first run
	for first := 2; first < whole.Ops(); first += whole.Ops()/steps + 1 {
		for second := 0; ; second += 2 + stride {
			w := newWorld(t, in, extra)
			_ = w.run(t.Context(), pipeline.BuildOptions{Wrap: wrapAll(&storagetest.Crash{At: first, Mode: storagetest.After})})
			again := &storagetest.Crash{At: second, Mode: storagetest.Before}
			_ = w.run(t.Context(), pipeline.BuildOptions{Wrap: wrapAll(again)})
			w.mustRun(t)
			w.check(t)
			if t.Failed() {
				t.Fatalf("after operation %d of the first run and %s of the second", first, again.Op)
			}
			if !again.Happened() {
				break
			}
		}
	}
}

// TestRowsDoNotDependOnBatches is the equivalence property: the same input under any limits and any number of crashes gives the same rows
// in the same order within each partition of the table.
func TestRowsDoNotDependOnBatches(t *testing.T) {
	in := landing(t, 6, 11)
	reference := newWorld(t, in, quarantined)
	reference.mustRun(t)
	want := reference.column(t, reference.file.Table.Path, "id")
	for _, limits := range []string{"{max_files: 1}", "{max_files: 4}", "{max_records: 12}", "{max_bytes: 600B}", "{max_files: 3, max_records: 1}"} {
		for die := -1; die < 120; die += 16 + stride {
			w := newWorld(t, in, quarantined+"batch: "+limits+"\n")
			for n := die; n > 0; n /= 2 { // dies ever earlier
				_ = w.run(t.Context(), pipeline.BuildOptions{Wrap: wrapAll(&storagetest.Crash{At: n, Mode: storagetest.After}), MaxBatches: int64(1 + n%3)})
			}
			w.mustRun(t)
			w.check(t)
			got := w.column(t, w.file.Table.Path, "id")
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("limits %s, first death at %d: order of rows differs", limits, die)
			}
		}
	}
}
