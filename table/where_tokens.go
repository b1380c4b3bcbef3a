package table

import (
	"fmt"
	"strings"
	"unicode"
)

// tokens takes words, texts and symbols off the front of a condition.
type tokens struct{ rest string }

// token is one of them; its text is as it stands there, and empty at the end.
type token struct {
	kind  tokenKind
	text  string
	value string // of a word or text, without quotes
}

type tokenKind int

const (
	symbol tokenKind = iota
	word
	quotedText
)

// is compares words and symbols.
func (t token) is(text string) bool { return t.kind != quotedText && strings.EqualFold(t.text, text) }

// special are the characters that end a word.
const special = "<>=!(),'`"

func (s *tokens) peek() token {
	s.rest = strings.TrimLeftFunc(s.rest, unicode.IsSpace)
	if s.rest == "" {
		return token{}
	}
	switch c := s.rest[0]; {
	case c == '\'':
		text, ok := quoted(s.rest)
		if !ok {
			return token{text: s.rest} // which is no symbol of any kind
		}
		return token{quotedText, text, unquote(text)}
	case strings.IndexByte(special, c) >= 0:
		for _, two := range []string{"!=", "<=", ">=", "<>"} {
			if strings.HasPrefix(s.rest, two) {
				return token{kind: symbol, text: two}
			}
		}
		return token{kind: symbol, text: s.rest[:1]}
	}
	end := strings.IndexFunc(s.rest, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(special, r) })
	if end < 0 {
		end = len(s.rest)
	}
	return token{word, s.rest[:end], s.rest[:end]}
}

func (s *tokens) next() token {
	t := s.peek()
	s.rest = s.rest[len(t.text):]
	return t
}

// accept takes a word or symbol if it is the next one.
func (s *tokens) accept(text string) bool {
	t := s.peek()
	if t.text == "" || !t.is(text) {
		return false
	}
	s.rest = s.rest[len(t.text):]
	return true
}

// column takes names with dots between them.
func (s *tokens) column() ([]string, error) {
	var path []string
	for s.rest = strings.TrimLeftFunc(s.rest, unicode.IsSpace); ; s.rest = s.rest[1:] {
		name := s.rest
		if strings.HasPrefix(s.rest, "`") {
			var ok bool
			if name, ok = quoted(s.rest); !ok {
				return nil, fmt.Errorf("%s has no quote at its end", s.rest)
			}
		} else if end := strings.IndexFunc(s.rest, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(special+".", r) }); end >= 0 {
			name = s.rest[:end]
		}
		if name == "" {
			return nil, fmt.Errorf("%q where a column should be", s.peek().text)
		}
		path = append(path, unquote(name))
		if s.rest = s.rest[len(name):]; !strings.HasPrefix(s.rest, ".") {
			return path, nil
		}
	}
}

// quoted is the quoted text at the front, with its quotes; in it the quote stands for itself when it is doubled.
func quoted(s string) (text string, ok bool) {
	for i := 1; i < len(s); i++ {
		if s[i] != s[0] {
			continue
		}
		if i+1 == len(s) || s[i+1] != s[0] {
			return s[:i+1], true
		}
		i++
	}
	return "", false
}

// unquote takes the quotes off, if there are any.
func unquote(s string) string {
	if s == "" || s[0] != '\'' && s[0] != '`' {
		return s
	}
	quote := s[:1]
	return strings.ReplaceAll(s[1:len(s)-1], quote+quote, quote)
}
