package schema

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// forbidden are the characters that Delta (through Spark) refuses in the names of a table without column mapping.
const forbidden = " ,;{}()\n\t="

// CheckName says what is wrong with a column or field name, or nil.
func CheckName(name string) error {
	if name == "" {
		return fmt.Errorf("a name is empty; give it one")
	}
	if !utf8.ValidString(name) {
		return fmt.Errorf("the name %q is not UTF-8; rename it", name)
	}
	if i := strings.IndexAny(name, forbidden); i >= 0 {
		return fmt.Errorf("the name %q holds %q, which Delta does not allow in names (none of %q); rename it, for example to %q",
			name, name[i], forbidden, LegalName(name))
	}
	return nil
}

// LegalName returns the name with every character that Delta forbids replaced by an underscore. It is name itself when
// that is legal.
func LegalName(name string) string {
	if name == "" {
		return "_"
	}
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || strings.ContainsRune(forbidden, r) {
			return '_'
		}
		return r
	}, name)
}

// CheckNames returns all faults in the names of a struct and of everything inside it: names that Delta forbids, and names
// that differ in case only. Each error names the path of the field. A table is not to be created with any of them. Under
// column mapping a name may have any characters.
func (t *Type) CheckNames(m Mapping) []error {
	var faults []error
	t.eachStruct("", func(path string, s *Type) {
		for i := range s.Fields {
			name := s.Fields[i].Name
			if m != Unmapped && name != "" {
				name = LegalName(name)
			}
			if err := CheckName(name); err != nil {
				faults = append(faults, at(path, err))
			}
		}
		if err := s.duplicate(); err != nil {
			faults = append(faults, at(path, err))
		}
	})
	return faults
}

func at(path string, err error) error {
	if path == "" {
		return err
	}
	return fmt.Errorf("in %s: %w", path, err)
}

// duplicate returns an error for the first field whose name equals an earlier one's but for case.
func (t *Type) duplicate() error {
	seen := make(map[string]string, len(t.Fields))
	for i := range t.Fields {
		name := t.Fields[i].Name
		folded := strings.ToLower(name)
		if earlier, ok := seen[folded]; ok {
			if earlier == name {
				return fmt.Errorf("the name %q occurs twice; rename one", name)
			}
			return fmt.Errorf("the names %q and %q differ in case only, which Delta does not allow; rename one", earlier, name)
		}
		seen[folded] = name
	}
	return nil
}

// eachStruct calls fn for the type and all types inside it that are structs, with their path.
func (t *Type) eachStruct(path string, fn func(path string, s *Type)) {
	if t.Key != nil {
		t.Key.eachStruct(join(path, "key"), fn)
	}
	if t.Elem != nil {
		t.Elem.eachStruct(join(path, elemName(t.Kind)), fn)
	}
	if t.Kind != Struct {
		return
	}
	fn(path, t)
	for i := range t.Fields {
		t.Fields[i].Type.eachStruct(join(path, t.Fields[i].Name), fn)
	}
}

func elemName(k Kind) string {
	if k == Map {
		return "value"
	}
	return "element"
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
