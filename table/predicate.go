package table

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicedata/sluice/schema"
)

// Op is what a Predicate does.
type Op string

// The operators. Comparisons are those of Spark: with a null they are unknown, NaN equals itself and is greater than all other
// numbers, both zeros are equal, and texts are in the order of their UTF-8 bytes.
const (
	Equal          Op = "="
	Less           Op = "<"
	LessOrEqual    Op = "<="
	Greater        Op = ">"
	GreaterOrEqual Op = ">="
	In             Op = "in"
	IsNull         Op = "is null"
	And            Op = "and"
	Or             Op = "or"
	Not            Op = "not"
)

// Predicate says of a row that something is true, false or unknown, in SQL's three-valued logic. A row fulfils it when it is
// true. Snapshot.Where reads one from text.
type Predicate struct {
	Op Op
	// Column is what a comparison, In and IsNull are about: the name of a column, and those of the fields of structs below it.
	Column []string
	// Values are the literals, of the column's type: one of a comparison, any number of In. nil is null.
	Values []Value
	// Of are the operands: one of Not, at least one of And and Or.
	Of []*Predicate
}

// Columns are the names of the table's columns that the predicate is about, once each. A nil Predicate has none.
func (p *Predicate) Columns() []string {
	if p == nil {
		return nil
	}
	var names []string
	if len(p.Column) > 0 {
		names = append(names, p.Column[0])
	}
	for _, o := range p.Of {
		names = append(names, o.Columns()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// check says what is wrong with the predicate for a table of the schema.
func (p *Predicate) check(t *schema.Type) error {
	switch p.Op {
	case And, Or, Not:
		return p.checkOperands(t)
	case Equal, Less, LessOrEqual, Greater, GreaterOrEqual, In, IsNull:
	default:
		return fmt.Errorf("condition with the unknown operator %q", p.Op)
	}
	name := strings.Join(p.Column, ".")
	kind := typeAt(t, p.Column)
	switch {
	case kind == nil:
		return fmt.Errorf("condition on column %s: the table has no such column", name)
	case p.Op == IsNull:
		return nil
	case kind.Nested():
		return fmt.Errorf("condition on column %s: values of type %s have no order; write IS NULL, or a field of a struct", name, kind)
	case p.Op != In && len(p.Values) != 1:
		return fmt.Errorf("condition on column %s: %s with %d literals", name, p.Op, len(p.Values))
	}
	for _, v := range p.Values {
		if !literalFits(kind, v) {
			return fmt.Errorf("condition on column %s: %v (%T) is no value of type %s", name, v, v, kind)
		}
	}
	return nil
}

func (p *Predicate) checkOperands(t *schema.Type) error {
	if len(p.Of) == 0 || p.Op == Not && len(p.Of) > 1 {
		return fmt.Errorf("condition: %s with %d operands", p.Op, len(p.Of))
	}
	for _, o := range p.Of {
		if err := o.check(t); err != nil {
			return err
		}
	}
	return nil
}

func literalFits(t *schema.Type, v Value) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return t.Kind == schema.Boolean
	case int64:
		switch t.Kind {
		case schema.Byte, schema.Short, schema.Integer, schema.Long, schema.Date, schema.Timestamp, schema.TimestampNTZ:
			return true
		}
	case float64:
		return t.Kind == schema.Float || t.Kind == schema.Double
	case string:
		return t.Kind == schema.String || t.Kind == schema.Binary
	case Decimal:
		return t.Kind == schema.Decimal && v.Scale == t.Scale
	}
	return false
}

// typeAt is the type of a column, or of a field of a struct below it; nil: there is none.
func typeAt(t *schema.Type, path []string) *schema.Type {
	for _, name := range path {
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

// combine evaluates And, Or and Not over what leaf says of the other operators.
func (p *Predicate) combine(leaf func(*Predicate) truths) truths {
	switch p.Op {
	case Not:
		return p.Of[0].combine(leaf).not()
	case And, Or:
		t := p.Of[0].combine(leaf)
		for _, o := range p.Of[1:] {
			if p.Op == And {
				t = t.and(o.combine(leaf))
			} else {
				t = t.or(o.combine(leaf))
			}
		}
		return t
	}
	return leaf(p)
}

// holds is the truth of a predicate without operands for a value of its column.
func (p *Predicate) holds(v Value) truths {
	if p.Op == IsNull {
		return truthOf(v == nil)
	}
	if p.Op != In {
		return compare(p.Op, v, p.Values[0])
	}
	t := isFalse
	for _, literal := range p.Values {
		t = t.or(compare(Equal, v, literal))
	}
	return t
}

func compare(op Op, v, literal Value) truths {
	if v == nil || literal == nil {
		return isUnknown
	}
	order := compareValues(v, literal)
	switch op {
	case Equal:
		return truthOf(order == 0)
	case Less:
		return truthOf(order < 0)
	case LessOrEqual:
		return truthOf(order <= 0)
	case Greater:
		return truthOf(order > 0)
	default:
		return truthOf(order >= 0)
	}
}
