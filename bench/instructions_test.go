package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/sluicedata/sluice/internal/checkout"
	"github.com/sluicedata/sluice/internal/events"
)

var update = flag.Bool("update-instructions", false, "write down the instructions that a record takes")

// recorded is the file with the instructions a record that were counted when it was last written, by part.
const recorded = "testdata/instructions"

// parts of the program that are counted apart, so that a regression names its part: those of JSON, of Parquet, and all else, with the
// runtime's copying and allocating for whomever. A function's instructions count for its own package.
const (
	scanner = "scanner"
	encoder = "encoder"
	rest    = "rest"
)

func partOf(pkg string) string {
	switch pkg {
	case "github.com/sluicedata/sluice/format/json":
		return scanner
	case "github.com/sluicedata/sluice/table", "github.com/klauspost/compress/s2":
		return encoder
	default:
		return rest
	}
}

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
	const few, many = 2000, 18000 // of the start, which they share, two counts differ by some hundred thousand
	program := filepath.Join(t.TempDir(), "sluice")
	built(t, program)
	var ofFew, ofMany map[string]int64
	t.Run("both", func(t *testing.T) {
		for records, into := range map[int64]*map[string]int64{few: &ofFew, many: &ofMany} {
			t.Run(strconv.FormatInt(records, 10), func(t *testing.T) {
				t.Parallel()
				*into = instructions(t, program, records)
			})
		}
	})
	got := map[string]int64{}
	for part, n := range ofMany {
		got[part] = (n - ofFew[part]) / (many - few)
	}
	if *update {
		record(t, got)
	}
	for part, want := range recordedParts(t) {
		t.Logf("%s: %d instructions a record, %d recorded", part, got[part], want)
		if got[part] > want+want/10 {
			t.Errorf("%s: a record takes %d instructions, more than a tenth above the %d recorded; make profile shows where they go; if that is wanted: go test ./bench -run %s -update-instructions",
				part, got[part], want, t.Name())
		}
	}
}

func record(t *testing.T, parts map[string]int64) {
	t.Helper()
	var text []byte
	for _, part := range []string{scanner, encoder, rest} {
		text = fmt.Appendf(text, "%s %d\n", part, parts[part])
	}
	if err := os.WriteFile(recorded, text, 0o666); err != nil {
		t.Fatal(err)
	}
}

func recordedParts(t *testing.T) map[string]int64 {
	t.Helper()
	text, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]int64{}
	for line := range strings.Lines(string(text)) {
		var part string
		var n int64
		if _, err := fmt.Sscan(line, &part, &n); err != nil {
			t.Fatalf("%s: %v in %q", recorded, err, line)
		}
		parts[part] = n
	}
	return parts
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
func instructions(t *testing.T, program string, records int64) map[string]int64 {
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
		var parts map[string]int64
		if parts, complaint = counted(t.Context(), dir, program, "run", "--log-level", "warn", file); parts != nil {
			return parts
		}
	}
	t.Fatalf("valgrind counted nothing in three attempts:\n%s", complaint)
	return nil
}

// counted is nil, with the output, for a run that failed. With one processor, no collection, no preemption and no samples of the heap, what a record takes beside scanner and encoder differs
// by a thirtieth from count to count, and what it takes in them by less than a hundredth.
func counted(ctx context.Context, dir string, argv ...string) (map[string]int64, []byte) {
	profile := filepath.Join(dir, "callgrind.out")
	cmd := exec.CommandContext(ctx, "valgrind", append([]string{"--tool=callgrind", "--callgrind-out-file=" + profile}, argv...)...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1,memprofilerate=0")
	output, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Appendf(output, "\n%v", err)
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return nil, fmt.Appendf(output, "\n%v", err)
	}
	return instructionsByPart(string(text)), nil
}

// instructionsByPart sums the instructions of functions in a profile of callgrind (valgrind.org/docs/manual/cl-format.html): a line "fn=" names
// one, by a number alone after the first time; the lines of numbers behind are its own, but for those behind "calls=", which are of the function called.
func instructionsByPart(profile string) map[string]int64 {
	sums, names := map[string]int64{}, map[string]string{}
	part, called := rest, false
	for line := range strings.Lines(profile) {
		line = strings.TrimSuffix(line, "\n")
		if _, name, found := strings.Cut(line, "fn="); found { // also cfn=: names are numbered wherever they stand
			number, text, named := strings.Cut(name, " ")
			if named {
				names[number] = partOf(packageOf(text))
			}
			if strings.HasPrefix(line, "fn=") {
				part = names[number]
			}
			continue
		}
		switch {
		case strings.HasPrefix(line, "calls="):
			called = true
		case line != "" && strings.Contains("0123456789+-*", line[:1]):
			if _, cost, found := strings.Cut(line, " "); found && !called {
				n, _ := strconv.ParseInt(cost, 10, 64) // what is none is of no function
				sums[part] += n
			}
			called = false
		}
	}
	return sums
}

// packageOf is the import path in a symbol of Go's linker.
func packageOf(symbol string) string {
	end := len(symbol)
	if at := strings.IndexAny(symbol, "(["); at >= 0 {
		end = at
	}
	slash := strings.LastIndex(symbol[:end], "/") + 1
	if dot := strings.Index(symbol[slash:end], "."); dot >= 0 {
		return symbol[:slash+dot]
	}
	return symbol[:end]
}

func TestInstructionsAreCountedForTheFunctionThatHasThem(t *testing.T) {
	const profile = `events: Ir
summary: 999
fl=(1) a.go
fn=(1) github.com/sluicedata/sluice/format/json.(*Decoder).Decode
26 450
+1 50
cfn=(2) github.com/sluicedata/sluice/table.(*ints[go.shape.int64]).add
calls=90 +53
* 7000
* 1

fn=(2)
3 20
fn=(3) runtime.memmove
-4 3
totals: 999
`
	want := map[string]int64{scanner: 501, encoder: 20, rest: 3}
	if got := instructionsByPart(profile); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
