package commitlog

import (
	"github.com/parquet-go/parquet-go"

	"github.com/sluicedata/sluice/schema"
)

// statsShape is the struct of statistics in a log checkpoint (add.stats_parsed), or a part of it: what parsedStats reads. Names
// are those of the files.
type statsShape struct {
	typ      *schema.Type           // of a leaf
	children map[string]*statsShape // of a struct

	cell  *cell
	value parquet.Value
	there bool
}

func statsLeaf(k schema.Kind) *statsShape { return &statsShape{typ: schema.Of(k)} }

// statsShapeOf is the shape for columns, of which those in chosen have statistics.
func statsShapeOf(columns *schema.Type, chosen map[string]struct{}) *statsShape {
	root := &statsShape{children: map[string]*statsShape{"numRecords": statsLeaf(schema.Long), "tightBounds": statsLeaf(schema.Boolean)}}
	bound := func(t *schema.Type) *statsShape {
		if hasBounds(t) {
			return &statsShape{typ: t}
		}
		return nil
	}
	for name, leaf := range map[string]func(*schema.Type) *statsShape{
		"minValues": bound, "maxValues": bound,
		"nullCount": func(*schema.Type) *statsShape { return statsLeaf(schema.Long) },
	} {
		if s := shapeBelow("", columns, chosen, leaf); s != nil {
			root.children[name] = s
		}
	}
	return root
}

// shapeBelow is nil when there is nothing in it.
func shapeBelow(prefix string, t *schema.Type, chosen map[string]struct{}, leaf func(*schema.Type) *statsShape) *statsShape {
	s := &statsShape{children: map[string]*statsShape{}}
	for i := range t.Fields {
		f := &t.Fields[i]
		var child *statsShape
		if f.Type.Kind == schema.Struct {
			child = shapeBelow(prefix+f.Name+".", f.Type, chosen, leaf)
		} else if _, ok := chosen[prefix+f.Name]; ok {
			child = leaf(f.Type)
		}
		if child != nil {
			s.children[f.StoredName()] = child
		}
	}
	if len(s.children) == 0 {
		return nil
	}
	return s
}

// hasBounds says whether a type has a least and a greatest value in statistics.
func hasBounds(t *schema.Type) bool {
	switch t.Kind {
	case schema.Byte, schema.Short, schema.Integer, schema.Long, schema.Float, schema.Double, schema.Decimal, schema.String, schema.Date,
		schema.Timestamp, schema.TimestampNTZ:
		return true
	}
	return false
}

func (n *statsShape) node() parquet.Node {
	if n.typ != nil {
		return leafNode(n.typ)
	}
	g := parquet.Group{}
	for name, child := range n.children {
		g[name] = child.node()
	}
	return members(g)
}

// bind finds the cells.
func (n *statsShape) bind(s *sheet, path ...string) {
	if n.typ != nil {
		n.cell = s.cell(path...)
	}
	for name, child := range n.children {
		child.bind(s, append(path[:len(path):len(path)], name)...)
	}
}

// put fills the cells from the JSON text. What cannot be read in the column's type is left out: it bounds nothing.
func (n *statsShape) put(s *sheet, stats string) {
	n.clear()
	c := cursor{b: s.keep(stats)}
	if stats != "" {
		n.read(&c)
	}
	n.fill(stats != "" && c.err == nil && c.peek() == 0)
}

func (n *statsShape) clear() {
	n.there = false
	for _, child := range n.children {
		child.clear()
	}
}

func (n *statsShape) read(c *cursor) {
	quoted := c.peek() == '"'
	switch {
	case n.typ == nil && c.peek() == '{':
		c.object(func(name []byte) {
			if child := n.children[string(name)]; child != nil {
				child.read(c)
			} else {
				c.skip()
			}
		})
	case n.typ == nil:
		c.skip()
	case quoted:
		n.take(c.text(), quoted)
	default:
		n.take(c.skip(), quoted)
	}
}

// take keeps a leaf's value, if it is one of its type.
func (n *statsShape) take(text []byte, quoted bool) {
	switch n.typ.Kind {
	case schema.String, schema.Date, schema.Timestamp, schema.TimestampNTZ:
		n.there = quoted
	default:
		n.there = !quoted
	}
	if n.there {
		var err error
		n.value, err = parquetText(n.typ, text)
		n.there = err == nil
	}
}

// fill appends one row to the cells; there says whether the row has statistics at all.
func (n *statsShape) fill(there bool) {
	if n.cell != nil {
		switch {
		case !there:
			n.cell.nullAt(1) // the add is there, and no more
		case n.there:
			n.cell.put(n.value)
		default:
			n.cell.null()
		}
	}
	for _, child := range n.children {
		child.fill(there)
	}
}
