package arch

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// drawers are names that say nothing of what is inside.
var drawers = []string{"util", "utils", "common", "helper", "helpers", "misc", "base", "types", "shared"}

// banned are functions of the standard library that belong at the edge. An empty name bans the whole package.
var banned = []struct{ pkg, name, why string }{
	{"os", "Getenv", "libraries are told their settings; the environment is read in cmd and pipeline"},
	{"os", "LookupEnv", "libraries are told their settings; the environment is read in cmd and pipeline"},
	{"os", "Environ", "libraries are told their settings; the environment is read in cmd and pipeline"},
	{"os", "ExpandEnv", "libraries are told their settings; the environment is read in cmd and pipeline"},
	{"os", "Exit", "only cmd picks exit codes"},
	{"os", "Args", "only cmd reads the command line"},
	{"flag", "", "only cmd reads the command line"},
	{"log", "", "libraries return errors and emit events; cmd turns them into log lines"},
}

// edges are the trees where what is banned elsewhere belongs. The test tools among them have command lines of their own.
var edges = []string{"cmd", "pipeline", "internal", "bench"}

// panicMark in a comment on a panic's line or the one above says that no input can lead there, and why.
const panicMark = "invariant:"

func (f *file) checkName() {
	for _, name := range []string{f.ast.Name.Name, path.Base(f.pkg)} {
		if slices.Contains(drawers, strings.TrimSuffix(name, "_test")) {
			f.report(f.ast.Package, "a package called %s is a drawer: name it after its idea", name)
			return
		}
	}
}

func (f *file) checkInit() {
	for _, d := range f.ast.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			f.report(fn.Pos(), "func init: parts are wired where they are built, not where they are imported")
		}
	}
}

func (f *file) checkCalls() {
	names := f.importNames()
	marked := f.markedLines()
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && names[x.Name] != "" {
				f.checkUse(n.Pos(), names[x.Name], n.Sel.Name)
			}
		case *ast.CallExpr:
			if fn, ok := n.Fun.(*ast.Ident); ok && fn.Name == "panic" && !marked[f.fset.Position(n.Pos()).Line] {
				f.report(n.Pos(), "panic: input never panics; return an error, or say in a comment which %s makes it impossible",
					strings.TrimSuffix(panicMark, ":"))
			}
		}
		return true
	})
}

func (f *file) checkUse(at token.Pos, pkg, name string) {
	if slices.ContainsFunc(edges, func(tree string) bool { return within(f.pkg, tree) }) {
		return
	}
	for _, b := range banned {
		if b.pkg == pkg && (b.name == "" || b.name == name) {
			f.report(at, "%s.%s: %s", pkg, name, b.why)
		}
	}
}

// importNames maps the names in this file to the paths of the packages that something is banned of.
func (f *file) importNames() map[string]string {
	names := map[string]string{}
	for _, spec := range f.ast.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil || strings.Contains(imported, ".") {
			continue
		}
		name := path.Base(imported)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = imported
	}
	return names
}

// markedLines are the lines where a panic is allowed.
func (f *file) markedLines() map[int]bool {
	lines := map[int]bool{}
	for _, group := range f.ast.Comments {
		if strings.Contains(group.Text(), panicMark) {
			last := f.fset.Position(group.End()).Line
			lines[last], lines[last+1] = true, true
		}
	}
	return lines
}
