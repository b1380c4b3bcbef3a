package commitlog

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// parsedStats turns a checkpoint's statistics in a struct (add.stats_parsed) into the JSON that they stand for ("Per-file
// Statistics"). A value of a type that has no place there is left out.
type parsedStats struct {
	root statsNode
	out  []byte
}

// statsNode is a struct, or a leaf below it.
type statsNode struct {
	name     []byte // as JSON, with its colon
	children []*statsNode
	leaf     *leaf
	render   func(b []byte, v parquet.Value) ([]byte, bool)
	value    parquet.Value
	there    bool
}

// parsedStats returns nil when the row group has none. Lean ones are of numRecords alone.
func (g *rowGroup) parsedStats(lean bool) *parsedStats {
	c := g.column("add", "stats_parsed")
	if c == nil || g.leaf("add", "stats_parsed", "numRecords") == nil {
		return nil
	}
	if lean {
		return &parsedStats{root: statsNode{children: []*statsNode{g.statsNode(c.Column("numRecords"))}}}
	}
	return &parsedStats{root: *g.statsNode(c)}
}

func (g *rowGroup) statsNode(c *parquet.Column) *statsNode {
	name, _ := json.Marshal(c.Name())
	n := &statsNode{name: append(name, ':')}
	for _, child := range c.Columns() {
		if child.MaxRepetitionLevel() == 0 {
			n.children = append(n.children, g.statsNode(child))
		}
	}
	if c.Leaf() {
		n.leaf, n.render = g.leafOf(c), statsValue(c.Type())
	}
	return n
}

// next is the next row's text, nil when it has none. It is valid until the call after.
func (p *parsedStats) next(skip bool) ([]byte, error) {
	if err := p.root.advance(); err != nil || skip {
		return nil, err
	}
	if p.out = p.root.append(p.out[:0]); len(p.out) == 0 {
		return nil, nil
	}
	return p.out, nil
}

func (n *statsNode) advance() (err error) {
	if n.leaf != nil {
		n.value, n.there, err = n.leaf.next()
	}
	for _, child := range n.children {
		if err == nil {
			err = child.advance()
		}
	}
	return err
}

// append appends the value without its name, or nothing when there is none.
func (n *statsNode) append(b []byte) []byte {
	if n.children == nil {
		if n.leaf == nil || !n.there || n.render == nil {
			return b
		}
		if out, ok := n.render(b, n.value); ok {
			return out
		}
		return b // what was written behind it does not count
	}
	start := len(b)
	b = append(b, '{')
	for _, child := range n.children {
		before := len(b)
		if before > start+1 {
			b = append(b, ',')
		}
		b = append(b, child.name...)
		named := len(b)
		if b = child.append(b); len(b) == named {
			b = b[:before]
		}
	}
	if len(b) == start+1 {
		return b[:start]
	}
	return append(b, '}')
}

// statsValue is how values of a type are written, nil when they are not.
func statsValue(t parquet.Type) func([]byte, parquet.Value) ([]byte, bool) {
	if lt := t.LogicalType(); lt != nil {
		switch l := lt.Value.(type) {
		case *format.StringType:
			return statsText
		case *format.DateType:
			return func(b []byte, v parquet.Value) ([]byte, bool) {
				return statsTime(b, time.Unix(int64(v.Int32())*86400, 0), time.DateOnly)
			}
		case *format.TimestampType:
			return statsTimestamp(l)
		case *format.DecimalType:
			return func(b []byte, v parquet.Value) ([]byte, bool) { return statsDecimal(b, v, int(l.Scale)), true }
		case *format.IntType:
		default:
			return nil
		}
	}
	switch t.Kind() {
	case parquet.Int32, parquet.Int64:
		return func(b []byte, v parquet.Value) ([]byte, bool) { return strconv.AppendInt(b, intOf(v), 10), true }
	case parquet.Float:
		return func(b []byte, v parquet.Value) ([]byte, bool) { return statsFloat(b, float64(v.Float()), 32) }
	case parquet.Double:
		return func(b []byte, v parquet.Value) ([]byte, bool) { return statsFloat(b, v.Double(), 64) }
	case parquet.Boolean:
		return func(b []byte, v parquet.Value) ([]byte, bool) { return strconv.AppendBool(b, v.Boolean()), true }
	}
	return nil
}

func statsText(b []byte, v parquet.Value) ([]byte, bool) {
	text, err := json.Marshal(string(v.ByteArray()))
	return append(b, text...), err == nil && utf8.Valid(v.ByteArray())
}

func statsFloat(b []byte, v float64, bits int) ([]byte, bool) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return b, false
	}
	return strconv.AppendFloat(b, v, 'g', -1, bits), true
}

// statsTime leaves out years that have no four digits.
func statsTime(b []byte, t time.Time, layout string) ([]byte, bool) {
	t = t.UTC()
	if t.Year() < 0 || t.Year() > 9999 {
		return b, false
	}
	return append(t.AppendFormat(append(b, '"'), layout), '"'), true
}

func statsTimestamp(t *format.TimestampType) func([]byte, parquet.Value) ([]byte, bool) {
	layout := "2006-01-02T15:04:05.000000"
	if t.IsAdjustedToUTC {
		layout += "Z"
	}
	if t.Unit.Value == nil {
		return nil
	}
	switch t.Unit.Value.Duration() {
	case time.Millisecond:
		return func(b []byte, v parquet.Value) ([]byte, bool) { return statsTime(b, time.UnixMilli(v.Int64()), layout) }
	case time.Microsecond:
		return func(b []byte, v parquet.Value) ([]byte, bool) { return statsTime(b, time.UnixMicro(v.Int64()), layout) }
	}
	return nil // nanoseconds would have to be rounded, up or down
}

func statsDecimal(b []byte, v parquet.Value, scale int) []byte {
	n := new(big.Int)
	switch v.Kind() {
	case parquet.Int32, parquet.Int64:
		n.SetInt64(intOf(v))
	default:
		n.SetBytes(v.ByteArray())
		if raw := v.ByteArray(); len(raw) > 0 && raw[0]&0x80 != 0 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(raw))))
		}
	}
	digits := new(big.Int).Abs(n).String()
	if n.Sign() < 0 {
		b = append(b, '-')
	}
	if scale <= 0 {
		return append(b, digits...)
	}
	digits = strings.Repeat("0", max(scale+1-len(digits), 0)) + digits
	b = append(b, digits[:len(digits)-scale]...)
	return append(append(b, '.'), digits[len(digits)-scale:]...)
}
