package schema

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// aliases are the names that DDL knows for types without arguments, in lower case. The first spelling of each kind in
// ddlNames is the one that DDL() writes.
var aliases = map[string]Kind{
	"boolean": Boolean, "bool": Boolean,
	"byte": Byte, "tinyint": Byte,
	"short": Short, "smallint": Short,
	"int": Integer, "integer": Integer,
	"long": Long, "bigint": Long,
	"float": Float, "real": Float,
	"double": Double,
	"string": String, "binary": Binary, "date": Date,
	"timestamp": Timestamp, "timestamp_ltz": Timestamp, "timestamp_ntz": TimestampNTZ,
}

// known are all words that can begin a type, for suggestions.
var known = []string{
	"boolean", "byte", "short", "int", "long", "float", "double", "decimal", "string", "binary", "date", "timestamp",
	"timestamp_ntz", "array", "map", "struct", "bool", "tinyint", "smallint", "integer", "bigint", "real", "dec", "numeric",
}

// foreign are names of other systems and what to write instead.
var foreign = map[string]string{
	"varchar": "string", "char": "string", "text": "string", "str": "string", "uuid": "string", "json": "string", "object": "struct<…>",
	"number": "double or decimal(p,s)", "float64": "double", "float32": "float", "int64": "long", "int32": "int", "int16": "short",
	"int8": "byte", "uint64": "decimal(20,0)", "uint32": "long", "datetime": "timestamp", "time": "string", "timestamptz": "timestamp",
	"bytes": "binary", "blob": "binary", "list": "array<…>", "row": "struct<…>", "record": "struct<…>", "void": "string", "variant": "string",
}

// DDLError is a fault in a type written as DDL.
type DDLError struct {
	Input  string
	Offset int // where, in bytes
	Reason string
	Hint   string // what to write instead; may be empty
}

func (e *DDLError) Error() string {
	s := fmt.Sprintf("type %q, character %d: %s", e.Input, utf8.RuneCountInString(e.Input[:e.Offset])+1, e.Reason)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// ParseDDL reads a type as Spark's DDL spells it, with its aliases, in any case: long or bigint, decimal(10,2),
// array<string>, map<string,array<int>>, struct<os:string NOT NULL,screen_w:int COMMENT 'pixels'>. Names that are no plain
// words stand in backticks. Elements, map values and fields are nullable unless NOT NULL stands behind a field. Errors are
// *DDLError.
func ParseDDL(s string) (*Type, error) {
	p := ddlParser{in: s}
	t, err := p.parseType(0)
	if err != nil {
		return nil, err
	}
	if p.skipSpace(); p.pos < len(s) {
		return nil, p.fail(p.pos, "unexpected "+p.next()+" behind the type", "")
	}
	return t, nil
}

type ddlParser struct {
	in  string
	pos int
}

func (p *ddlParser) fail(offset int, reason, hint string) error {
	return &DDLError{Input: p.in, Offset: offset, Reason: reason, Hint: hint}
}

func (p *ddlParser) skipSpace() {
	for p.pos < len(p.in) {
		r, n := utf8.DecodeRuneInString(p.in[p.pos:])
		if !unicode.IsSpace(r) {
			return
		}
		p.pos += n
	}
}

// next describes what stands at the position, for messages.
func (p *ddlParser) next() string {
	if p.pos >= len(p.in) {
		return "end"
	}
	r, _ := utf8.DecodeRuneInString(p.in[p.pos:])
	return strconv.QuoteRune(r)
}

// accept takes the byte c if it is next.
func (p *ddlParser) accept(c byte) bool {
	p.skipSpace()
	if p.pos < len(p.in) && p.in[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *ddlParser) expect(c byte, behind string) error {
	if p.accept(c) {
		return nil
	}
	return p.fail(p.pos, fmt.Sprintf("expected %q behind %s, found %s", c, behind, p.next()), "")
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// word takes a run of letters, digits and underscores; empty when there is none.
func (p *ddlParser) word() string {
	p.skipSpace()
	start := p.pos
	for p.pos < len(p.in) && wordByte(p.in[p.pos]) {
		p.pos++
	}
	return p.in[start:p.pos]
}

func (p *ddlParser) parseType(depth int) (*Type, error) {
	p.skipSpace()
	start := p.pos
	if depth > MaxDepth {
		return nil, p.fail(start, fmt.Sprintf("types are nested more than %d deep", MaxDepth), "")
	}
	word := p.word()
	if word == "" {
		return nil, p.fail(start, "expected a type, found "+p.next(), "write one such as string, long, timestamp or struct<a:int>")
	}
	switch name := strings.ToLower(word); name {
	case "array":
		return p.parseArray(depth)
	case "map":
		return p.parseMap(depth)
	case "struct":
		return p.parseStruct(depth)
	case "decimal", "dec", "numeric":
		return p.parseDecimal()
	default:
		k, ok := aliases[name]
		if !ok {
			return nil, p.fail(start, fmt.Sprintf("unknown type %q", word), suggest(name))
		}
		return Of(k), nil
	}
}

func (p *ddlParser) parseArray(depth int) (*Type, error) {
	if err := p.expect('<', "array"); err != nil {
		return nil, err
	}
	elem, err := p.parseType(depth + 1)
	if err != nil {
		return nil, err
	}
	return ArrayOf(elem), p.expect('>', "the array's element type")
}

func (p *ddlParser) parseMap(depth int) (*Type, error) {
	if err := p.expect('<', "map"); err != nil {
		return nil, err
	}
	key, err := p.parseType(depth + 1)
	if err != nil {
		return nil, err
	}
	if err := p.expect(',', "the map's key type"); err != nil {
		return nil, err
	}
	value, err := p.parseType(depth + 1)
	if err != nil {
		return nil, err
	}
	return MapOf(key, value), p.expect('>', "the map's value type")
}

func (p *ddlParser) parseDecimal() (*Type, error) {
	start := p.pos
	if !p.accept('(') {
		return DecimalOf(10, 0), nil
	}
	precision, err := p.number("the number of digits")
	if err != nil {
		return nil, err
	}
	scale := 0
	if p.accept(',') {
		if scale, err = p.number("the number of digits behind the point"); err != nil {
			return nil, err
		}
	}
	if err := p.expect(')', "the decimal's digits"); err != nil {
		return nil, err
	}
	if !validDecimal(precision, scale) {
		return nil, p.fail(start, fmt.Sprintf("decimal(%d,%d) does not exist", precision, scale),
			"the first number is 1 to 38, the second 0 to the first")
	}
	return DecimalOf(precision, scale), nil
}

func (p *ddlParser) number(what string) (int, error) {
	p.skipSpace()
	start := p.pos
	n, err := strconv.Atoi(p.word())
	if err != nil {
		return 0, p.fail(start, "expected "+what, "write decimal(10,2)")
	}
	return n, nil
}

func (p *ddlParser) parseStruct(depth int) (*Type, error) {
	if err := p.expect('<', "struct"); err != nil {
		return nil, err
	}
	t := StructOf()
	if p.accept('>') {
		return t, nil
	}
	for {
		p.skipSpace()
		start := p.pos
		f, err := p.parseField(depth)
		if err != nil {
			return nil, err
		}
		t.Fields = append(t.Fields, f)
		if err := t.duplicate(); err != nil {
			return nil, p.fail(start, err.Error(), "")
		}
		if !p.accept(',') {
			return t, p.expect('>', "a field of the struct")
		}
	}
}

func (p *ddlParser) parseField(depth int) (Field, error) {
	name, err := p.name()
	if err != nil {
		return Field{}, err
	}
	p.accept(':') // Spark lets it be left out
	f := Field{Name: name, Nullable: true}
	if f.Type, err = p.parseType(depth + 1); err != nil {
		return Field{}, err
	}
	for {
		p.skipSpace()
		start := p.pos
		switch word := p.word(); strings.ToLower(word) {
		case "":
			return f, nil
		case "not":
			if !strings.EqualFold(p.word(), "null") {
				return Field{}, p.fail(start, "expected NULL behind NOT", "write NOT NULL")
			}
			f.Nullable = false
		case "comment":
			text, err := p.text()
			if err != nil {
				return Field{}, err
			}
			f.Metadata = map[string]json.RawMessage{"comment": appendString(nil, text)}
		default:
			return Field{}, p.fail(start, fmt.Sprintf("unexpected %q behind a field's type", word), "NOT NULL and COMMENT 'text' may stand there")
		}
	}
}

// name takes a field's name: a word, or anything in backticks (a backtick inside is doubled).
func (p *ddlParser) name() (string, error) {
	p.skipSpace()
	start := p.pos
	if p.pos < len(p.in) && p.in[p.pos] == '`' {
		return p.quoted('`', "name")
	}
	for p.pos < len(p.in) {
		r, n := utf8.DecodeRuneInString(p.in[p.pos:])
		if r == utf8.RuneError && n == 1 || !(r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)) {
			break
		}
		p.pos += n
	}
	if p.pos == start {
		return "", p.fail(start, "expected a field's name, found "+p.next(), "names with other characters than letters, digits and _ stand in backticks")
	}
	return p.in[start:p.pos], nil
}

// text takes a string literal in single or double quotes.
func (p *ddlParser) text() (string, error) {
	p.skipSpace()
	if p.pos < len(p.in) && (p.in[p.pos] == '\'' || p.in[p.pos] == '"') {
		return p.quoted(p.in[p.pos], "comment")
	}
	return "", p.fail(p.pos, "expected a text in quotes behind COMMENT", "write COMMENT 'text'")
}

// quoted takes what stands between two quotes; a doubled one inside means one.
func (p *ddlParser) quoted(quote byte, what string) (string, error) {
	start := p.pos
	var b strings.Builder
	for p.pos++; p.pos < len(p.in); p.pos++ {
		if p.in[p.pos] != quote {
			b.WriteByte(p.in[p.pos])
			continue
		}
		if p.pos+1 < len(p.in) && p.in[p.pos+1] == quote {
			p.pos++
			b.WriteByte(quote)
			continue
		}
		p.pos++
		if !utf8.ValidString(b.String()) {
			return "", p.fail(start, "the "+what+" is not UTF-8", "")
		}
		if what == "name" && b.Len() == 0 {
			return "", p.fail(start, "a field's name is empty", "")
		}
		return b.String(), nil
	}
	return "", p.fail(start, fmt.Sprintf("the %s has no closing %c", what, quote), "")
}
