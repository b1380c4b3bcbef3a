package arch

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

var (
	namedTest    = regexp.MustCompile("`(Test[A-Z][A-Za-z0-9]*)`")
	declaredTest = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9]*)\(`)
)

// TestTestsThatDocumentsNameExist keeps docs/ and the other documents from promising proofs that are gone.
func TestTestsThatDocumentsNameExist(t *testing.T) {
	declared, named := map[string]bool{}, map[string]string{}
	err := fs.WalkDir(os.DirFS("../.."), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			if strings.HasPrefix(e.Name(), ".") && name != "." {
				return fs.SkipDir
			}
			return nil
		}
		find, into := declaredTest, func(test string) { declared[test] = true }
		switch {
		case path.Ext(name) == ".md":
			find, into = namedTest, func(test string) { named[test] = name }
		case !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path.Join("../..", name))
		if err != nil {
			return err
		}
		for _, match := range find.FindAllStringSubmatch(string(text), -1) {
			into(match[1])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(named) == 0 {
		t.Error("no document names a test")
	}
	for test, document := range named {
		if !declared[test] {
			t.Errorf("%s names %s, and there is no such test", document, test)
		}
	}
}
