package arch

import (
	"slices"
	"strconv"
	"strings"
)

// Layer is a tree of packages and what it may import of ours besides itself.
type Layer struct {
	Tree string
	May  []string // trees; "*" is every tree but the test tools
	Not  []string // trees that May does not mean after all
	Why  string
}

// Layers is the table of arrows. Of several layers that hold a package the deepest counts.
func Layers() []Layer {
	return []Layer{
		{Tree: "memory", Why: "bytes are counted without knowing whose they are"},
		{Tree: "storage", May: []string{"memory"}, Why: "storage is the bottom: it knows bytes and names only"},
		{Tree: "schema", Why: "types are values that everyone shares, so they know nobody"},
		{Tree: "offsetlog", May: []string{"storage", "schema"}, Why: "plans are written without knowing tables or sources"},
		{Tree: "parquetfile", Why: "a Parquet file is opened without knowing whose it is"},
		{Tree: "commitlog", May: []string{"storage", "schema", "parquetfile"}, Why: "the log of a table is written without knowing plans, sources or columns"},
		{Tree: "table", May: []string{"commitlog", "storage", "schema", "memory", "parquetfile"}, Why: "a table knows its log and its files, not who writes to it"},
		{
			Tree: "compaction", May: []string{"table", "commitlog", "storage", "schema", "memory"},
			Why: "maintenance works on any table, whoever wrote it",
		},
		{
			Tree: "source", May: []string{"offsetlog", "storage", "schema", "format", "memory"},
			Why: "a source says what there is to read; what becomes of it is the engine's",
		},
		{
			Tree: "format", May: []string{"source", "offsetlog", "storage", "schema"}, Not: []string{"source/files", "source/kafka"},
			Why: "bytes become columns the same way, whatever source they came from",
		},
		{Tree: "transform", May: []string{"schema"}, Why: "a transform is a function of columns"},
		{Tree: "state", May: []string{"storage", "schema"}, Why: "state is kept without knowing what it is for"},
		{
			Tree: "batch", May: []string{"storage", "offsetlog", "source", "format", "schema", "transform", "state", "memory"},
			Not: []string{"source/files", "source/kafka", "format/json", "storage/local"},
			Why: "the engine is written against the small interfaces that it declares, so that it can be tested and crashed without a table",
		},
		{Tree: "monitor", May: []string{"batch", "memory", "offsetlog", "source", "storage"}, Why: "a monitor listens to the engine, whatever it runs on; the engine knows no HTTP"},
		{Tree: "sink", May: []string{"schema", "storage"}, Why: "a sink is told what to write and under which batch id"},
		{Tree: "pipeline", May: []string{"*"}, Not: []string{"cmd"}, Why: "pipeline builds the parts; the command line is above it"},
		{Tree: "cmd", May: []string{"*"}, Why: "the command line is the top"},
		{Tree: "examples", May: []string{"*"}, Not: []string{"cmd"}, Why: "examples show the library"},
		{Tree: "bench", May: []string{"*", "internal"}, Not: []string{"cmd"}, Why: "the benchmark measures the program from outside; it is a tool like those below internal"},
		{Tree: "internal", May: []string{"*", "internal"}, Not: []string{"cmd"}, Why: "test tools are imported by tests alone and may use every part"},
	}
}

func (f *file) checkImports() {
	layer, known := layerOf(f.pkg)
	if !known {
		f.report(f.ast.Package, "package %s has no layer: give it a place in the table of arrows", f.pkg)
		return
	}
	for _, spec := range f.ast.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil || !within(imported, Module) {
			continue
		}
		imported = strings.TrimPrefix(strings.TrimPrefix(imported, Module), "/")
		if !layer.allows(imported) {
			f.report(spec.Pos(), "%s may not import %s: %s", f.pkg, imported, layer.Why)
		}
	}
}

func layerOf(pkg string) (Layer, bool) {
	var best Layer
	for _, l := range Layers() {
		if within(pkg, l.Tree) && len(l.Tree) > len(best.Tree) {
			best = l
		}
	}
	return best, best.Tree != ""
}

func (l Layer) allows(imported string) bool {
	if within(imported, l.Tree) {
		return true
	}
	in := func(tree string) bool { return within(imported, tree) || tree == "*" && !within(imported, "internal") }
	return slices.ContainsFunc(l.May, in) && !slices.ContainsFunc(l.Not, in)
}
