package interop

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sluicedata/sluice/internal/checkout"
)

// Root is the folder of the repository that the test runs in.
func Root(tb testing.TB) string {
	tb.Helper()
	dir, err := checkout.Root()
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

// Shared is the path of a fixture that is too large for the repository: in the folder that SLUICE_SHARED names, or in
// the folder shared beside the repository. It skips the test where the fixture is missing.
func Shared(tb testing.TB, name string) string {
	tb.Helper()
	dir := os.Getenv("SLUICE_SHARED")
	if dir == "" {
		dir = filepath.Join(filepath.Dir(Root(tb)), "shared")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		tb.Skipf("no shared fixture: %v; set SLUICE_SHARED to the folder that holds it", err)
	}
	return path
}
