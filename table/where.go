package table

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/sluicedata/sluice/schema"
)

// Where reads a condition on columns of the snapshot, as in
//
//	day >= '2024-01-01' AND (device.os IN ('Mac OS', 'iOS') OR NOT amount < 1.50) AND country IS NOT NULL
//
// Operators are =, !=, <>, <, <=, >, >=, IN, NOT IN, IS NULL, IS NOT NULL, NOT, AND and OR, in any case. A literal stands behind its
// operator and is a value of the column's type: a word (12, 1.50, true, 2024-01-01, null), or text in single quotes with a
// doubled quote for one in it; of binary, X'1f'. DATE, TIMESTAMP and TIMESTAMP_NTZ may stand before a quoted one. A name with other
// characters than letters, digits and underscores stands in backquotes. The error is an *ArgumentError.
func (s *Snapshot) Where(text string) (*Predicate, error) {
	p := whereParser{tokens: tokens{rest: text}, schema: s.schema}
	where, err := p.any()
	if err == nil && p.peek().text != "" {
		err = fmt.Errorf("%q where AND, OR or the end should be; put literals of several words into single quotes", p.peek().text)
	}
	if err == nil {
		err = where.check(s.schema)
	}
	if err != nil {
		return nil, argument(fmt.Errorf("%q: %w", text, err))
	}
	return where, nil
}

// mostNested is how deep parentheses and NOT may be nested.
const mostNested = 100

// whereParser reads a condition by descent: any is made of all, all of one.
type whereParser struct {
	tokens
	schema *schema.Type
	depth  int
}

func (p *whereParser) any() (*Predicate, error) { return p.joined(Or, p.all) }
func (p *whereParser) all() (*Predicate, error) { return p.joined(And, p.one) }

// joined reads operands with an operator between them.
func (p *whereParser) joined(op Op, operand func() (*Predicate, error)) (*Predicate, error) {
	first, err := operand()
	if err != nil || !p.peek().is(string(op)) {
		return first, err
	}
	all := &Predicate{Op: op, Of: []*Predicate{first}}
	for p.accept(string(op)) {
		next, err := operand()
		if err != nil {
			return nil, err
		}
		all.Of = append(all.Of, next)
	}
	return all, nil
}

func (p *whereParser) one() (*Predicate, error) {
	if p.depth++; p.depth > mostNested {
		return nil, fmt.Errorf("more than %d conditions in one another", mostNested)
	}
	defer func() { p.depth-- }()
	switch {
	case p.accept("not"):
		return not(p.one())
	case p.accept("("):
		inner, err := p.any()
		if err == nil && !p.accept(")") {
			err = fmt.Errorf("%q where ) should be", p.peek().text)
		}
		return inner, err
	}
	column, err := p.column()
	if err != nil {
		return nil, err
	}
	return p.comparison(column)
}

func not(p *Predicate, err error) (*Predicate, error) {
	return &Predicate{Op: Not, Of: []*Predicate{p}}, err
}

// comparison reads what is said of a column.
func (p *whereParser) comparison(column []string) (*Predicate, error) {
	c := &Predicate{Column: column}
	switch operator := p.next(); {
	case operator.is("is"):
		c.Op = IsNull
		negated := p.accept("not")
		if !p.accept("null") {
			return nil, fmt.Errorf("%q where NULL should be", p.peek().text)
		}
		if negated {
			return not(c, nil)
		}
		return c, nil
	case operator.is("not"):
		if !p.accept("in") {
			return nil, fmt.Errorf("%q where IN should be", p.peek().text)
		}
		return not(p.list(c))
	case operator.is("in"):
		return p.list(c)
	case operator.is("!="), operator.is("<>"):
		c.Op = Equal
		return not(p.literals(c))
	case operator.is("="), operator.is("<"), operator.is("<="), operator.is(">"), operator.is(">="):
		c.Op = Op(operator.text)
		return p.literals(c)
	default:
		return nil, fmt.Errorf("%q is no operator; write =, !=, <, <=, >, >=, IN, NOT IN, IS NULL or IS NOT NULL", operator.text)
	}
}

// list reads literals in parentheses.
func (p *whereParser) list(c *Predicate) (*Predicate, error) {
	c.Op = In
	if !p.accept("(") {
		return nil, fmt.Errorf("%q where ( should be", p.peek().text)
	}
	for {
		if _, err := p.literals(c); err != nil {
			return nil, err
		}
		switch {
		case p.accept(")"):
			return c, nil
		case !p.accept(","):
			return nil, fmt.Errorf("%q where , or ) should be", p.peek().text)
		}
	}
}

// literals reads one more literal.
func (p *whereParser) literals(c *Predicate) (*Predicate, error) {
	kind := typeAt(p.schema, c.Column)
	if kind == nil || kind.Nested() {
		return nil, c.check(p.schema)
	}
	v, err := p.literal(kind)
	if err != nil {
		return nil, fmt.Errorf("column %s: %w", strings.Join(c.Column, "."), err)
	}
	c.Values = append(c.Values, v)
	return c, nil
}

func (p *whereParser) literal(t *schema.Type) (Value, error) {
	prefix, literal := token{}, p.next()
	if p.peek().kind == quotedText && (literal.is("x") || literal.is("date") || literal.is("timestamp") || literal.is("timestamp_ntz")) {
		prefix, literal = literal, p.next()
	}
	switch {
	case literal.kind == word && literal.is("null"):
		return nil, nil
	case literal.kind == word && p.schema.Index(literal.text) >= 0:
		return nil, fmt.Errorf("%s is a column, and columns are compared with literals only; put text into single quotes", literal.text)
	case literal.kind != word && literal.kind != quotedText:
		return nil, fmt.Errorf("%q where a literal should be", literal.text)
	case prefix.is("x") != (t.Kind == schema.Binary):
		return nil, fmt.Errorf("%s is no %s; binary is written X'1f', and nothing else is", literal.text, t)
	case prefix.is("x"):
		b, err := hex.DecodeString(literal.value)
		if err != nil {
			return nil, fmt.Errorf("literal X%s: %w", literal.text, err)
		}
		return string(b), nil
	case prefix.text != "" && !strings.EqualFold(prefix.text, t.String()):
		return nil, fmt.Errorf("it is of type %s, and the literal a %s", t, strings.ToLower(prefix.text))
	}
	v, err := parseLiteral(t, literal.value)
	if err != nil {
		return nil, fmt.Errorf("%s is no %s, the type of the column: %w", literal.text, t, err)
	}
	return v, nil
}

// parseLiteral reads what parseText does, but nothing that it would cut.
func parseLiteral(t *schema.Type, s string) (Value, error) {
	switch t.Kind {
	case schema.Date:
		if strings.ContainsAny(s, " T:") {
			return nil, fmt.Errorf("it has a time of day")
		}
	case schema.Timestamp, schema.TimestampNTZ:
		if _, fraction, ok := strings.Cut(s, "."); ok && len(fraction)-len(strings.TrimLeft(fraction, "0123456789")) > 6 {
			return nil, fmt.Errorf("it has more than six digits of a second")
		}
	}
	return parseText(t, s)
}
