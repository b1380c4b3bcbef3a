package table

import "github.com/sluicedata/sluice/schema"

// stats are a file's statistics for the table's log, as its encoder has gathered them (PROTOCOL.md, "Per-file Statistics").
// They are exact or absent.
type stats struct {
	rows    int64
	columns []*columnStats
	prefix  int // of texts, in UTF-16 units
}

// columnStats are those of one column: a struct's fields, or a leaf's bounds.
type columnStats struct {
	column   *column
	children []*columnStats
	nulls    int64
	bounds   bounds // nil for types that have none
}

// stats returns those of the rows in the file that has just ended.
func (e *encoder) stats() *stats {
	s := &stats{columns: e.columnStats(e.layout.columns, e.layout.chosen), prefix: e.layout.choice.prefix}
	for _, g := range e.groups {
		s.rows += g.rows
	}
	return s
}

func (e *encoder) columnStats(columns []*column, chosen map[string]struct{}) []*columnStats {
	var all []*columnStats
	for _, c := range columns {
		s := &columnStats{column: c, nulls: e.shredder.nulls[c.node]}
		if c.typ.Kind == schema.Struct {
			if s.children = e.columnStats(c.children, chosen); len(s.children) > 0 {
				all = append(all, s)
			}
			continue
		}
		if _, ok := chosen[c.path]; ok {
			if c.isLeaf() {
				s.bounds = e.chunks[c.firstLeaf].values.file()
			}
			all = append(all, s)
		}
	}
	return all
}
