package table

import (
	"cmp"
	"fmt"

	"github.com/sluicedata/sluice/schema"
)

// Op compares a column with a literal.
type Op string

// The operators of a Condition. A null, and NaN, fulfils none but IsNull and IsNotNull.
const (
	Equal          Op = "="
	Less           Op = "<"
	LessOrEqual    Op = "<="
	Greater        Op = ">"
	GreaterOrEqual Op = ">="
	IsNull         Op = "is null"
	IsNotNull      Op = "is not null"
)

// Condition says something of a column's value. Several of them hold together (AND).
type Condition struct {
	Column string // dotted for a field of a struct
	Op     Op
	Value  Value // of the column's type; see Value. Ignored by IsNull and IsNotNull
}

// check says what is wrong with the condition for a table of the schema.
func (c *Condition) check(t *schema.Type) error {
	if t = typeAt(t, c.Column); t == nil {
		return fmt.Errorf("condition on column %s: the table has no such column", c.Column)
	}
	switch c.Op {
	case IsNull, IsNotNull:
		return nil
	case Equal, Less, LessOrEqual, Greater, GreaterOrEqual:
	default:
		return fmt.Errorf("condition on column %s: unknown operator %q", c.Column, c.Op)
	}
	if !literalFits(t, c.Value) {
		return fmt.Errorf("condition on column %s: %v (%T) is no value of type %s", c.Column, c.Value, c.Value, t)
	}
	return nil
}

func literalFits(t *schema.Type, v Value) bool {
	switch v := v.(type) {
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
		return t.Kind == schema.String
	case Decimal:
		return t.Kind == schema.Decimal && v.Scale == t.Scale
	}
	return false
}

// compareValues orders two values of one type; ok is false for NaN and for values of different types.
func compareValues(a, b Value) (order int, ok bool) {
	switch a := a.(type) {
	case bool:
		b, ok := b.(bool)
		return boolOrder(a) - boolOrder(b), ok
	case int64:
		b, ok := b.(int64)
		return cmp.Compare(a, b), ok
	case float64:
		b, ok := b.(float64)
		return cmp.Compare(a, b), ok && a == a && b == b
	case string:
		b, ok := b.(string)
		return cmp.Compare(a, b), ok
	case Decimal:
		b, ok := b.(Decimal)
		return a.Unscaled.Cmp(b.Unscaled), ok && a.Scale == b.Scale
	default:
		return 0, false
	}
}

func boolOrder(b bool) int {
	if b {
		return 1
	}
	return 0
}

// holds says whether a value fulfils the condition.
func (c *Condition) holds(v Value) bool {
	switch c.Op {
	case IsNull:
		return v == nil
	case IsNotNull:
		return v != nil
	}
	order, ok := compareValues(v, c.Value)
	if !ok {
		return false
	}
	switch c.Op {
	case Equal:
		return order == 0
	case Less:
		return order < 0
	case LessOrEqual:
		return order <= 0
	case Greater:
		return order > 0
	default:
		return order >= 0
	}
}

// excludes says whether the file can be seen to hold no row that fulfils the condition.
func (c *Condition) excludes(f *File) bool {
	if v, ok := f.Partition[c.Column]; ok {
		return !c.holds(v)
	}
	s := f.Stats
	if s == nil {
		return false
	}
	nulls, counted := s.Nulls[c.Column]
	allNull := counted && s.Tight && nulls == s.Rows
	switch c.Op {
	case IsNull:
		return counted && s.Tight && nulls == 0
	case IsNotNull:
		return allNull
	}
	return allNull || c.beyond(s)
}

// beyond says whether the bounds leave no room for a value that fulfils the condition.
func (c *Condition) beyond(s *FileStats) bool {
	low, lowKnown := compareValues(c.Value, s.Min[c.Column])
	high, highKnown := compareValues(c.Value, s.Max[c.Column])
	switch c.Op {
	case Equal:
		return lowKnown && low < 0 || highKnown && high > 0
	case Less:
		return lowKnown && low <= 0
	case LessOrEqual:
		return lowKnown && low < 0
	case Greater:
		return highKnown && high >= 0
	default:
		return highKnown && high > 0
	}
}
