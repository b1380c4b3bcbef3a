// Package arch keeps the shape of the code: which package may import which, and what no library of ours does.
//
// It owns the table of arrows (Layers), the list of banned calls and names, and Check, which reads a source tree and
// names each place that breaks one, with the reason for the rule. The test runs it over the module. Test files are free:
// tests wire parts together that do not know each other.
//
// Invariants:
//
//   - A package that no layer covers is itself a violation, so that a new one gets its place on purpose.
//   - Every rule has a reason, which is what the message says.
package arch

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Module is the import path that our packages begin with.
const Module = "github.com/sluicedata/sluice"

// Violation is one place that breaks a rule.
type Violation struct {
	File string // relative to the root, with forward slashes
	Line int
	What string // what stands there, and why it may not
}

func (v Violation) String() string { return fmt.Sprintf("%s:%d: %s", v.File, v.Line, v.What) }

// Check reads every Go file below root that is not a test's and returns the violations by file and line. An error is a
// file that cannot be read or parsed.
func Check(root fs.FS) ([]Violation, error) {
	var out []Violation
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(name):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		violations, err := checkFile(root, name)
		out = append(out, violations...)
		return err
	})
	slices.SortFunc(out, func(a, b Violation) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.What, b.What))
	})
	return out, err
}

// skipped tells folders that the go command does not look into either.
func skipped(dir string) bool {
	base := path.Base(dir)
	return dir != "." && (base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_"))
}

// file is a parsed source file in its package.
type file struct {
	pkg  string // folder, relative to the root
	name string
	fset *token.FileSet
	ast  *ast.File
	out  []Violation
}

func checkFile(root fs.FS, name string) ([]Violation, error) {
	src, err := fs.ReadFile(root, name)
	if err != nil {
		return nil, err
	}
	f := &file{pkg: path.Dir(name), name: name, fset: token.NewFileSet()}
	if f.ast, err = parser.ParseFile(f.fset, name, src, parser.ParseComments|parser.SkipObjectResolution); err != nil {
		return nil, fmt.Errorf("check the architecture: %w", err)
	}
	f.checkName()
	f.checkImports()
	f.checkInit()
	f.checkCalls()
	return f.out, nil
}

func (f *file) report(at token.Pos, format string, args ...any) {
	line := f.fset.Position(at).Line
	f.out = append(f.out, Violation{File: f.name, Line: line, What: fmt.Sprintf(format, args...)})
}

// within tells whether a package is a tree's root or beneath it.
func within(pkg, tree string) bool { return pkg == tree || strings.HasPrefix(pkg, tree+"/") }
