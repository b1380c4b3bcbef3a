package proof

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/sluicedata/sluice/internal/interop"
)

// program is the real binary, and beside it the generator of records, built once in a run of the tests. Neither has the race
// detector, which the tests themselves may have.
var program struct {
	once   sync.Once
	folder string
	err    error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if program.folder != "" {
		_ = os.RemoveAll(program.folder)
	}
	os.Exit(code)
}

// binary is the path of a program: sluice or generate.
func binary(tb testing.TB, name string) string {
	tb.Helper()
	program.once.Do(func() {
		if program.folder, program.err = os.MkdirTemp("", "sluice-proof-"); program.err != nil {
			return
		}
		build := exec.Command("go", "build", "-o", program.folder+"/", "./cmd/sluice", "./internal/events/cmd/generate")
		build.Dir = interop.Root(tb)
		build.Env = append(os.Environ(), "CGO_ENABLED=0") // as make cross has it: no system calls of a C library
		if out, err := build.CombinedOutput(); err != nil {
			program.err = fmt.Errorf("build the programs: %w\n%s", err, out)
		}
	})
	if program.err != nil {
		tb.Fatal(program.err)
	}
	return filepath.Join(program.folder, name)
}

// choices are the test's random ones, always the same for one seed.
func choices(tb testing.TB) *rand.Rand {
	tb.Helper()
	seed := uint64(number(tb, "SLUICE_PROOF_SEED", 1))
	name := fnv.New64a()
	_, _ = name.Write([]byte(tb.Name()))
	tb.Logf("SLUICE_PROOF_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, name.Sum64()))
}

// number is that of an environment variable.
func number(tb testing.TB, variable string, otherwise int64) int64 {
	tb.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		tb.Fatalf("%s=%q: write a number", variable, text)
	}
	return n
}
