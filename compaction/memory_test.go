package compaction_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/compaction"
	"github.com/sluicedata/sluice/internal/tabletest"
	"github.com/sluicedata/sluice/table"
)

// linked is a table of so many small files, which are links to one.
func linked(t *testing.T, files int) *table.Table {
	t.Helper()
	folder := t.TempDir()
	tbl := makeTable(t, tabletest.Local(t, folder), 1, 200, map[string]string{"sluice.parquet.rowGroupSize": "256kb"})
	var add commitlog.Add
	for f, err := range snapshot(t, tbl).State().Files.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		add = f
	}
	whole := filepath.Join(folder, add.Path)
	var lines strings.Builder
	for range files {
		add.Path = "day=2026-11-02/part-00000-" + uuid.NewString() + ".c000.snappy.parquet"
		line, err := json.Marshal(map[string]any{"add": add})
		if err == nil {
			err = os.Link(whole, filepath.Join(folder, add.Path))
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&lines, "%s\n", line)
	}
	if err := os.WriteFile(filepath.Join(folder, "_delta_log", fmt.Sprintf("%020d.json", 1)), []byte(lines.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return tbl
}

// held is the memory that is in use, in bytes.
func held() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// planAndRun returns what the plan of a compaction of small files takes, and the most that there is more of while it runs.
func planAndRun(t *testing.T, files int) (ofPlan, ofRun int64) {
	t.Helper()
	s := snapshot(t, linked(t, files))
	before := held()
	p := plan(t, s, compaction.Options{})
	planned := held()
	done := 0
	err := compaction.Run(t.Context(), s, p, compaction.Events{Progress: func(int, int64) {
		if done++; done%400 == 0 {
			ofRun = max(ofRun, held()-planned)
		}
	}})
	if err != nil || done < files {
		t.Fatalf("%d of %d files: %v", done, files, err)
	}
	return planned - before, ofRun
}

func TestAFileTakesLittleMemoryToPlanAndLessToRewrite(t *testing.T) {
	const few, many = 800, 4000
	plan1, run1 := planAndRun(t, few)
	plan2, run2 := planAndRun(t, many)
	if n := (plan2 - plan1) / (many - few); n > compaction.PlanMemory {
		t.Errorf("a file takes %d bytes in a plan, %d are said", n, compaction.PlanMemory)
	} else {
		t.Logf("a file takes %d bytes in a plan", n)
	}
	if n := (run2 - run1) / (many - few); n > 512 {
		t.Errorf("a file takes %d bytes more while it is rewritten, more than its remove action", n)
	} else {
		t.Logf("a file takes %d bytes more while it is rewritten; the run takes %d kB, and %d kB with five times the files", n, run1>>10, run2>>10)
	}
}
