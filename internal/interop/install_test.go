package interop

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fakeJava stands in for java, in the version that JAVA says.
const fakeJava = `#!/bin/sh
echo "    java.specification.version = $JAVA" >&2
`

// fakePython stands in for python3: it is as old as SUITABLE says (a status), and what it installs with as good as PIP
// says. It notes each install in the file pips beside the environment.
const fakePython = `#!/bin/sh
case "$1 $2" in
  "-c import fcntl"*) exit 0 ;;
  "-c "*) exit "$SUITABLE" ;;
  "-m venv")
    mkdir -p "$3/bin"
    printf '#!/bin/sh\necho pip >>"%s/../pips"\nexit "$PIP"\n' "$3" >"$3/bin/python"
    chmod +x "$3/bin/python" ;;
esac
`

// installer is a copy of install.sh in a repository of its own, with fakePython and fakeJava in front of all else.
func installer(t *testing.T) (scripts string) {
	t.Helper()
	root, bin := t.TempDir(), t.TempDir()
	scripts = filepath.Join(root, "testdata", "readers")
	script, err := os.ReadFile(filepath.Join(Root(t), "testdata", "readers", "install.sh"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(scripts, 0o777); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		filepath.Join(scripts, "install.sh"): string(script), filepath.Join(bin, "python3"): fakePython, filepath.Join(bin, "java"): fakeJava,
	} {
		if err := os.WriteFile(path, []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("SUITABLE", "0")
	t.Setenv("PIP", "0")
	return scripts
}

func TestInstallHappensOnce(t *testing.T) {
	scripts := installer(t)
	cache := filepath.Join(filepath.Dir(filepath.Dir(scripts)), ".cache", "readers")
	for range 2 {
		python, err := install(t.Context(), scripts, nil)
		if err != nil || python != filepath.Join(cache, "venv", "bin", "python") {
			t.Fatalf("%q %v", python, err)
		}
	}
	pips, err := os.ReadFile(filepath.Join(cache, "pips"))
	if err != nil || string(pips) != "pip\n" {
		t.Errorf("%q %v", pips, err)
	}
}

func TestInstallThatFailedIsTriedAgain(t *testing.T) {
	scripts := installer(t)
	t.Setenv("PIP", "1")
	if _, err := install(t.Context(), scripts, nil); err == nil || !strings.Contains(err.Error(), "install failed") {
		t.Errorf("error %v", err)
	}
	t.Setenv("PIP", "0")
	if _, err := install(t.Context(), scripts, nil); err != nil {
		t.Error(err)
	}
}

func TestCheckTellsWhatIsMissingAndInstallsNothing(t *testing.T) {
	scripts := installer(t)
	check := func(readers ...string) int {
		cmd := exec.CommandContext(t.Context(), filepath.Join(scripts, "install.sh"), append([]string{"--check"}, readers...)...)
		_ = cmd.Run() // the status tells
		return cmd.ProcessState.ExitCode()
	}
	if got := check(); got != 4 {
		t.Errorf("status %d where nothing is installed", got)
	}
	if _, err := os.Stat(filepath.Join(scripts, "..", "..", ".cache")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was installed: %v", err)
	}
	if _, err := install(t.Context(), scripts, nil); err != nil {
		t.Fatal(err)
	}
	if base, chdb := check(), check("chdb"); base != 0 || chdb != 4 {
		t.Errorf("statuses %d, and %d with chdb", base, chdb)
	}
}

func TestMachineWithoutPythonOrJavaIsToldApart(t *testing.T) {
	scripts := installer(t)
	t.Setenv("JAVA", "11")
	_, err := install(t.Context(), scripts, []string{"spark"})
	if err == nil || !strings.Contains(err.Error(), "not on this machine: install.sh: no Java 17") {
		t.Errorf("without Java: %v", err)
	}
	if _, err := install(t.Context(), scripts, []string{"chdb"}); err != nil {
		t.Errorf("without Java, for which only Spark asks: %v", err)
	}
	t.Setenv("SUITABLE", "1")
	_, err = install(t.Context(), scripts, []string{"polars"})
	if err == nil || !strings.Contains(err.Error(), "not on this machine: install.sh: no Python") {
		t.Errorf("without Python: %v", err)
	}
}
