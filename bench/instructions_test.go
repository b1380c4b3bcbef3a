package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/sluicedata/sluice/internal/checkout"
	"github.com/sluicedata/sluice/internal/events"
)

var update = flag.Bool("update-instructions", false, "write down the instructions that a record takes")

// recorded is the file with the instructions a record that were counted when it was last written.
const recorded = "testdata/instructions"

// TestARecordTakesNoMoreInstructions counts those of the program, from a file to a table, with Valgrind's callgrind: unlike seconds they are
// the same on a busy machine. The difference of two inputs leaves the start of the program out.
func TestARecordTakesNoMoreInstructions(t *testing.T) {
	if testing.Short() {
		t.Skip("instructions are not counted with -short: the emulated processor takes ten seconds")
	}
	if runtime.GOARCH != "amd64" {
		t.Skipf("the instructions that were recorded are of amd64, and this is %s", runtime.GOARCH)
	}
	if _, err := exec.LookPath("valgrind"); err != nil {
		if os.Getenv("CI") == "true" { // which is where a regression has to fail
			t.Fatal(err)
		}
		t.Skipf("counting instructions needs valgrind: %v", err)
	}
	t.Parallel()
	const few, many = 2000, 6000
	program := filepath.Join(t.TempDir(), "sluice")
	built(t, program)
	var ofFew, ofMany int64
	t.Run("both", func(t *testing.T) {
		for records, into := range map[int64]*int64{few: &ofFew, many: &ofMany} {
			t.Run(strconv.FormatInt(records, 10), func(t *testing.T) {
				t.Parallel()
				*into = instructions(t, program, records)
			})
		}
	})
	got := (ofMany - ofFew) / (many - few)
	if *update {
		if err := os.WriteFile(recorded, fmt.Appendln(nil, got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	want, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d instructions a record, %d recorded", got, want)
	if got > want+want/10 {
		t.Errorf("a record takes %d instructions, more than a tenth above the %d recorded; make profile shows where they go; if that is wanted: go test ./bench -run %s -update-instructions", got, want, t.Name())
	}
}

func built(t *testing.T, program string) {
	t.Helper()
	root, err := checkout.Root()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/sluice")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// instructions counts those of a run over so many records.
func instructions(t *testing.T, program string, records int64) int64 {
	landing := t.TempDir()
	if err := events.WriteFiles(t.Context(), events.New(1), landing, events.Landing{Records: records, Files: 1}); err != nil {
		t.Fatal(err)
	}
	var complaint []byte
	for range 3 { // an emulator of processors may fall over Go's stacks
		dir := t.TempDir()
		file, err := work{shape: shopEvents(), codec: "snappy"}.pipeline(dir, fmt.Sprintf("files: {path: '%s', settle: 0s}", landing))
		if err != nil {
			t.Fatal(err)
		}
		var n int64
		if n, complaint = counted(t.Context(), dir, program, "run", "--log-level", "warn", file); n > 0 {
			return n
		}
	}
	t.Fatalf("valgrind counted nothing in three attempts:\n%s", complaint)
	return 0
}

var collected = regexp.MustCompile(`Collected : (\d+)`)

// counted is 0, with the output, for a run that failed. With one processor, no collection and no preemption two runs differ by less than a hundredth.
func counted(ctx context.Context, dir string, argv ...string) (int64, []byte) {
	cmd := exec.CommandContext(ctx, "valgrind", append([]string{"--tool=callgrind", "--callgrind-out-file=" + filepath.Join(dir, "callgrind.out")}, argv...)...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1")
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err := cmd.Run()
	found := collected.FindSubmatch(output.Bytes())
	if err != nil || found == nil {
		return 0, fmt.Appendf(output.Bytes(), "\n%v", err)
	}
	n, err := strconv.ParseInt(string(found[1]), 10, 64)
	if err != nil {
		return 0, output.Bytes()
	}
	return n, output.Bytes()
}
