package arch

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestModuleKeepsItsArrows(t *testing.T) {
	violations, err := Check(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range violations {
		t.Error(v)
	}
}

func TestModuleIsTheOneInGoMod(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(mod), "module "+Module+"\n") {
		t.Errorf("go.mod does not begin with module %s", Module)
	}
}

// imports is a file of a package that imports others of ours.
func imports(paths ...string) string {
	src := "package p\n"
	for _, p := range paths {
		src += "import _ \"" + Module + "/" + p + "\"\n"
	}
	return src
}

func TestArrowsThatAreAllowed(t *testing.T) {
	for pkg, may := range map[string][]string{
		"storage/local":         {"storage"},
		"storage/storagetest":   {"storage/local", "storage"},
		"offsetlog":             {"storage", "schema"},
		"commitlog":             {"storage", "schema"},
		"table":                 {"commitlog", "storage", "schema"},
		"compaction":            {"table", "commitlog"},
		"source/kafka":          {"source", "offsetlog"},
		"source/files":          {"source", "format", "storage"},
		"format/json":           {"format", "source", "schema"},
		"batch":                 {"source", "format", "offsetlog", "storage", "state", "transform"},
		"pipeline":              {"batch", "table", "source/kafka", "storage/local"},
		"cmd/sluice":            {"pipeline", "batch", "table"},
		"internal/events":       {"internal/interop/rowhash"},
		"internal/interop":      {"format", "table"},
		"storage/testdata/fake": {"cmd/sluice"},
	} {
		got, err := Check(fstest.MapFS{pkg + "/p.go": {Data: []byte(imports(may...))}})
		if err != nil || len(got) != 0 {
			t.Errorf("%s: %v %v", pkg, got, err)
		}
	}
}

func TestArrowsThatAreCrossed(t *testing.T) {
	for pkg, not := range map[string][]string{
		"storage":       {"schema", "offsetlog"},
		"schema":        {"storage"},
		"offsetlog":     {"commitlog", "source"},
		"commitlog":     {"offsetlog", "table"},
		"table":         {"offsetlog", "source", "compaction", "batch"},
		"compaction":    {"batch", "offsetlog"},
		"source/files":  {"table", "batch", "commitlog"},
		"format/json":   {"source/kafka", "table"},
		"batch":         {"table", "commitlog", "pipeline", "cmd/sluice", "storage/local", "source/kafka", "compaction"},
		"pipeline":      {"cmd/sluice", "internal/events"},
		"cmd/sluice":    {"internal/interop"},
		"batchsomehow":  {"storage"},
		"internal/arch": {"cmd/sluice"},
	} {
		for _, imported := range not {
			got, err := Check(fstest.MapFS{pkg + "/p.go": {Data: []byte(imports(imported))}})
			if err != nil || len(got) != 1 {
				t.Errorf("%s imports %s: %v %v", pkg, imported, got, err)
			}
		}
	}
}

func TestBannedCallsAndNames(t *testing.T) {
	const src = `package p

import (
	env "os"
	"flag"
	"log"
	"log/slog"
)

func init() {}

type t struct{}

func (t) init() { slog.Info("fine") }

func f() {
	env.Getenv("HOME")
	flag.Parse()
	log.Print()
	panic("no")
	panic("yes") // invariant: f is never called
	// invariant: it can't be
	panic("yes")
	env.Exit(1)
}
`
	files := fstest.MapFS{
		"storage/p.go":         {Data: []byte(src)},
		"storage/p_test.go":    {Data: []byte(src)},
		"pipeline/p.go":        {Data: []byte(strings.Replace(src, "func init() {}", "", 1))},
		"storage/util/u.go":    {Data: []byte("package util")},
		"storage/helpers/h.go": {Data: []byte("package fine")},
	}
	got, err := Check(files)
	if err != nil {
		t.Fatal(err)
	}
	var places []string
	for _, v := range got {
		place, _, _ := strings.Cut(v.String(), ": ")
		places = append(places, place)
	}
	want := []string{
		"pipeline/p.go:20",
		"storage/helpers/h.go:1",
		"storage/p.go:10", "storage/p.go:17", "storage/p.go:18", "storage/p.go:19", "storage/p.go:20", "storage/p.go:24",
		"storage/util/u.go:1",
	}
	if diff := cmp.Diff(want, places); diff != "" {
		t.Errorf("%s\n%v", diff, got)
	}
}

func TestFileThatDoesNotParseIsAnError(t *testing.T) {
	if _, err := Check(fstest.MapFS{"storage/p.go": {Data: []byte("pakage p")}}); err == nil {
		t.Error("no error")
	}
}

func TestEveryLayerHasAReason(t *testing.T) {
	for _, l := range Layers() {
		if l.Why == "" {
			t.Errorf("%s has none", l.Tree)
		}
	}
}
