package table

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/sluicedata/sluice/schema"
)

// Where reads conditions on columns of the snapshot, joined by AND, as in
//
//	day >= 2024-01-01 AND device.os = 'Mac OS' AND country IS NOT NULL
//
// A literal is a word, or text in single quotes with a doubled quote for one in it; a name with other characters than
// letters, digits, dots and underscores stands in backquotes.
func (s *Snapshot) Where(text string) ([]Condition, error) {
	var all []Condition
	p := whereParser{rest: text}
	for {
		c, err := p.condition(s.schema)
		if err == nil {
			err = c.check(s.schema)
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		all = append(all, c)
		switch word := p.word(); {
		case word == "":
			return all, nil
		case !strings.EqualFold(word, "and"):
			return nil, fmt.Errorf("%q: %q where AND or the end should be; put literals of several words into single quotes", text, word)
		}
	}
}

// whereParser takes conditions off the front of a text.
type whereParser struct{ rest string }

// word takes a word, an operator or a quoted text, with its quotes; empty at the end.
func (p *whereParser) word() string {
	p.rest = strings.TrimLeftFunc(p.rest, unicode.IsSpace)
	if p.rest == "" {
		return ""
	}
	end := strings.IndexFunc(p.rest, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("<>='`", r) })
	switch c := p.rest[0]; {
	case c == '\'' || c == '`':
		end = quotedEnd(p.rest, c)
	case c == '<' || c == '>' || c == '=':
		end = 1
		if len(p.rest) > 1 && p.rest[1] == '=' && c != '=' {
			end = 2
		}
	case end < 0:
		end = len(p.rest)
	}
	word := p.rest[:end]
	p.rest = p.rest[end:]
	return word
}

// quotedEnd is where a quoted text ends; in it a quote stands for itself when it is doubled.
func quotedEnd(s string, quote byte) int {
	for i := 1; i < len(s); i++ {
		if s[i] != quote {
			continue
		}
		if i+1 == len(s) || s[i+1] != quote {
			return i + 1
		}
		i++
	}
	return len(s)
}

// unquote takes the quotes off.
func unquote(word string, quote string) (text string, quoted bool, err error) {
	if !strings.HasPrefix(word, quote) {
		return word, false, nil
	}
	if len(word) < 2 || !strings.HasSuffix(word, quote) {
		return "", false, fmt.Errorf("%s has no quote at its end", word)
	}
	return strings.ReplaceAll(word[1:len(word)-1], quote+quote, quote), true, nil
}

func (p *whereParser) condition(t *schema.Type) (c Condition, err error) {
	if c.Column, _, err = unquote(p.word(), "`"); err != nil {
		return c, err
	}
	if c.Column == "" {
		return c, fmt.Errorf("a column should be there")
	}
	operator := strings.ToLower(p.word())
	if operator == "is" {
		c.Op = IsNull
		word := strings.ToLower(p.word())
		if word == "not" {
			c.Op, word = IsNotNull, strings.ToLower(p.word())
		}
		if word != "null" {
			return c, fmt.Errorf("%q where NULL should be", word)
		}
		return c, nil
	}
	switch c.Op = Op(operator); c.Op {
	case Equal, Less, LessOrEqual, Greater, GreaterOrEqual:
	default:
		return c, fmt.Errorf("%q is no operator; write =, <, <=, >, >=, IS NULL or IS NOT NULL", operator)
	}
	literal, quoted, err := unquote(p.word(), "'")
	switch {
	case err != nil:
		return c, err
	case literal == "" && !quoted:
		return c, fmt.Errorf("a literal should be behind %s %s", c.Column, c.Op)
	}
	kind := typeAt(t, c.Column)
	if kind == nil {
		return c, nil // check tells
	}
	if c.Value, err = parseText(kind, literal); err != nil {
		return c, fmt.Errorf("%s is no %s, the type of column %s: %w", literal, kind, c.Column, err)
	}
	return c, nil
}

// typeAt is the type of a column by its dotted path; nil: there is none.
func typeAt(t *schema.Type, path string) *schema.Type {
	for name := range strings.SplitSeq(path, ".") {
		if t.Kind != schema.Struct {
			return nil
		}
		at := t.Index(name)
		if at < 0 {
			return nil
		}
		t = t.Fields[at].Type
	}
	return t
}
