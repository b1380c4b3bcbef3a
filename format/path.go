package format

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Path leads from a record to a value in it: meta.producer.timestamp, tags[0], [3]. The path $ (Whole) is the record
// itself. The empty Path leads nowhere; a Column that has it reads the field of its own name.
type Path []Step

// Step is one step of a Path: into a field, or into an array's element when Field is empty. A field whose name is empty
// has no path.
type Step struct {
	Field string
	Index int // from 0; WholeRecord only in Whole
}

// WholeRecord is the Index of the only step of Whole.
const WholeRecord = -1

// Whole returns the path $: the whole record.
func Whole() Path { return Path{{Index: WholeRecord}} }

// IsWhole says whether the path is $.
func (p Path) IsWhole() bool { return len(p) == 1 && p[0].Field == "" && p[0].Index == WholeRecord }

// maxIndexDigits keeps an index within 32 bits.
const maxIndexDigits = 9

// PathError is what is wrong with the text of a path.
type PathError struct {
	Path   string
	Offset int // in bytes, from 0
	Reason string
}

func (e *PathError) Error() string {
	return fmt.Sprintf("path %q: byte %d: %s", e.Path, e.Offset, e.Reason)
}

// ParsePath reads the text of a path: names separated by dots, each with any number of [i] behind it; a path may begin
// with [i] where records are arrays.
//
// A plain name may hold any character but dot, brackets, backtick, double quote and control characters, so spaces are
// part of a name (US Gross), but it does not begin or end with one. Any other name is written between backticks or double
// quotes, in which the quote itself is doubled. $ alone is the whole record. Errors are *PathError.
func ParsePath(text string) (Path, error) {
	p := pathParser{text: text}
	if !utf8.ValidString(text) {
		return nil, p.fail("the path is not UTF-8")
	}
	if text == "" {
		return nil, p.fail("the path is empty; name a field, or write $ for the whole record")
	}
	if text == "$" {
		return Whole(), nil
	}
	return p.path()
}

type pathParser struct {
	text string
	at   int
}

func (p *pathParser) fail(format string, args ...any) error {
	return &PathError{Path: p.text, Offset: p.at, Reason: fmt.Sprintf(format, args...)}
}

func (p *pathParser) path() (Path, error) {
	var path Path
	for first := true; p.at < len(p.text); first = false {
		step, err := p.step(first)
		if err != nil {
			return nil, err
		}
		path = append(path, step)
	}
	return path, nil
}

func (p *pathParser) step(first bool) (Step, error) {
	switch {
	case p.text[p.at] == '[':
		return p.index()
	case first:
	case p.text[p.at] == '.':
		p.at++
	default:
		return Step{}, p.fail("expected . or [ behind a name or an index")
	}
	if p.at == len(p.text) {
		return Step{}, p.fail("expected a name behind the last dot")
	}
	if c := p.text[p.at]; c == '`' || c == '"' {
		return p.quoted(c)
	}
	return p.plain(first)
}

func (p *pathParser) index() (Step, error) {
	from := p.at
	p.at++
	end := p.at
	for end < len(p.text) && p.text[end] >= '0' && p.text[end] <= '9' {
		end++
	}
	digits := p.text[p.at:end]
	switch {
	case digits == "":
		return Step{}, p.fail("expected an index from 0 behind [; a name with brackets is written between backticks")
	case len(digits) > maxIndexDigits:
		return Step{}, p.fail("the index has more than %d digits", maxIndexDigits)
	case len(digits) > 1 && digits[0] == '0':
		return Step{}, p.fail("the index begins with 0")
	}
	if end == len(p.text) || p.text[end] != ']' {
		p.at = end
		return Step{}, p.fail("expected ] to close the [ at byte %d", from)
	}
	i, err := strconv.Atoi(digits)
	if err != nil {
		return Step{}, p.fail("%v", err)
	}
	p.at = end + 1
	return Step{Index: i}, nil
}

func (p *pathParser) quoted(quote byte) (Step, error) {
	from := p.at
	p.at++
	var name strings.Builder
	for p.at < len(p.text) {
		c := p.text[p.at]
		p.at++
		if c != quote {
			name.WriteByte(c)
			continue
		}
		if p.at < len(p.text) && p.text[p.at] == quote {
			name.WriteByte(c)
			p.at++
			continue
		}
		if name.Len() == 0 {
			p.at = from
			return Step{}, p.fail("a field with an empty name has no path")
		}
		return Step{Field: name.String()}, nil
	}
	p.at = from
	return Step{}, p.fail("the quoted name that begins here has no end")
}

func (p *pathParser) plain(first bool) (Step, error) {
	from := p.at
	for p.at < len(p.text) && !strings.ContainsRune(".[", rune(p.text[p.at])) {
		if c := p.text[p.at]; !plainByte(c) {
			return Step{}, p.fail("%q in a name; write the name between backticks", string(rune(c)))
		}
		p.at++
	}
	name := p.text[from:p.at]
	end := p.at
	p.at = from
	switch {
	case name == "":
		return Step{}, p.fail("expected a name")
	case name[0] == ' ' || name[len(name)-1] == ' ':
		return Step{}, p.fail("the name %q begins or ends with a space; write it between backticks", name)
	case first && name == "$":
		return Step{}, p.fail("a path begins with a name or an index, not with $; write $ between backticks if the field is called that")
	}
	p.at = end
	return Step{Field: name}, nil
}

// plainByte says whether the byte may stand in a name without quotes.
func plainByte(c byte) bool {
	return c >= ' ' && c != 0x7f && !strings.ContainsRune(".[]`\"", rune(c))
}

// String returns the text that ParsePath reads as this path. Names are quoted only where they have to be.
func (p Path) String() string {
	if p.IsWhole() {
		return "$"
	}
	var b strings.Builder
	for i, s := range p {
		if s.Field == "" {
			b.WriteString("[" + strconv.Itoa(s.Index) + "]")
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(quoteName(s.Field, i == 0))
	}
	return b.String()
}

func quoteName(name string, first bool) string {
	plain := name[0] != ' ' && name[len(name)-1] != ' ' && (!first || name != "$")
	for i := 0; plain && i < len(name); i++ {
		plain = plainByte(name[i])
	}
	if plain {
		return name
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}
