package files

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// maxAlternatives bounds what the braces of one pattern may multiply to.
const maxAlternatives = 1000

// Glob is a pattern over slash-separated relative paths. Immutable.
type Glob struct {
	pattern      string
	alternatives [][]string // elements of each pattern that the braces stand for
	prefix       string     // what every match begins with
}

// ParseGlob reads a pattern: * and ? stand for characters within one element of a path, [a-z] and [^a-z] for one
// character, \ takes the next character as it is, {a,b} is a or b, and ** as a whole element is any number of
// elements. An empty pattern is **.
func ParseGlob(pattern string) (*Glob, error) {
	if pattern == "" {
		pattern = "**"
	}
	expanded, err := expandBraces(pattern)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", pattern, err)
	}
	g := &Glob{pattern: pattern}
	for i, p := range expanded {
		elements, err := splitPattern(p)
		if err != nil {
			return nil, fmt.Errorf("pattern %q: %w", pattern, err)
		}
		g.alternatives = append(g.alternatives, elements)
		if literal := literalPrefix(p); i == 0 {
			g.prefix = literal
		} else {
			g.prefix = commonPrefix(g.prefix, literal)
		}
	}
	return g, nil
}

// String returns the pattern as it was given to ParseGlob.
func (g *Glob) String() string { return g.pattern }

// Match tells whether the pattern stands for the path.
func (g *Glob) Match(name string) bool {
	for _, elements := range g.alternatives {
		if matchElements(elements, name) {
			return true
		}
	}
	return false
}

// SplitGlob cuts a path as a user writes it into the longest folder without wildcards and the pattern beneath it. A path
// without wildcards is a folder, and its pattern is **. To name a single file, use its folder and QuoteGlob of its name.
func SplitGlob(name string) (root, pattern string) {
	elements := strings.Split(name, "/")
	for i, element := range elements {
		if !hasWildcard(element) {
			continue
		}
		root = unquote(strings.Join(elements[:i], "/"))
		switch {
		case i == 0:
			root = "."
		case root == "":
			root = "/"
		}
		return root, strings.Join(elements[i:], "/")
	}
	root = strings.TrimRight(unquote(name), "/")
	switch {
	case root == "" && name != "":
		root = "/"
	case root == "":
		root = "."
	}
	return root, "**"
}

// QuoteGlob returns a pattern that matches exactly the name.
func QuoteGlob(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if strings.IndexByte(`*?[]{}\,`, name[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(name[i])
	}
	return b.String()
}

func matchElements(elements []string, name string) bool {
	for len(elements) > 0 {
		if elements[0] == "**" {
			return matchAnyDepth(elements[1:], name)
		}
		if name == "" {
			return false
		}
		element, rest, _ := strings.Cut(name, "/")
		if ok, err := path.Match(elements[0], element); err != nil || !ok {
			return false
		}
		elements, name = elements[1:], rest
	}
	return name == ""
}

func matchAnyDepth(elements []string, name string) bool {
	if len(elements) == 0 {
		return name != ""
	}
	for name != "" {
		if matchElements(elements, name) {
			return true
		}
		_, name, _ = strings.Cut(name, "/")
	}
	return false
}

func splitPattern(pattern string) ([]string, error) {
	if strings.HasPrefix(pattern, "/") {
		return nil, errors.New("begins with a slash; patterns are relative to the folder")
	}
	var elements []string
	for element := range strings.SplitSeq(pattern, "/") {
		switch {
		case element == "" || element == "." || element == "..":
			return nil, fmt.Errorf("has the element %q, which no path has", element)
		case element == "**" && len(elements) > 0 && elements[len(elements)-1] == "**":
			continue
		case element != "**" && strings.Contains(strings.ReplaceAll(element, `\*`, ""), "**"):
			return nil, fmt.Errorf("has ** within %q; it must stand alone between slashes (for any characters within a name write *)", element)
		}
		if _, err := path.Match(element, ""); err != nil {
			return nil, fmt.Errorf("has the malformed element %q; a bracket is not closed, or nothing follows a backslash (to take a character as it is, put \\ before it)", element)
		}
		elements = append(elements, element)
	}
	return elements, nil
}

// expandBraces returns the patterns that one with {a,b} stands for, in the order written.
func expandBraces(pattern string) ([]string, error) {
	head, choices, tail, err := cutBraces(pattern)
	if err != nil {
		return nil, err
	}
	if choices == nil {
		return []string{pattern}, nil
	}
	tails, err := expandBraces(tail)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, choice := range choices {
		inner, err := expandBraces(choice)
		if err != nil {
			return nil, err
		}
		if len(all)+len(inner)*len(tails) > maxAlternatives {
			return nil, fmt.Errorf("its braces stand for more than %d patterns", maxAlternatives)
		}
		for _, in := range inner {
			for _, t := range tails {
				all = append(all, head+in+t)
			}
		}
	}
	return all, nil
}

// cutBraces finds the first {…} outside of brackets and cuts it at its own commas. No choices means no braces.
func cutBraces(pattern string) (head string, choices []string, tail string, err error) {
	depth, start, bracket := 0, 0, false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case bracket:
			bracket = c != ']'
		case c == '[':
			bracket = true
		case c == '{':
			if depth++; depth == 1 {
				head, start = pattern[:i], i+1
			}
		case c == ',' && depth == 1:
			choices, start = append(choices, pattern[start:i]), i+1
		case c == '}' && depth == 0:
			return "", nil, "", errors.New(`has a } without a {; for a brace in a name write \}`)
		case c == '}':
			if depth--; depth == 0 {
				return head, append(choices, pattern[start:i]), pattern[i+1:], nil
			}
		}
	}
	if depth > 0 {
		return "", nil, "", errors.New(`has a { without a }; for a brace in a name write \{`)
	}
	return "", nil, "", nil
}

func hasWildcard(element string) bool {
	for i := 0; i < len(element); i++ {
		switch element[i] {
		case '\\':
			i++
		case '*', '?', '[', '{':
			return true
		}
	}
	return false
}

func literalPrefix(pattern string) string {
	if i := strings.IndexAny(pattern, `*?[\`); i >= 0 {
		return pattern[:i]
	}
	return pattern
}

func commonPrefix(a, b string) string {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return a[:i]
		}
	}
	return a[:n]
}

func unquote(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
