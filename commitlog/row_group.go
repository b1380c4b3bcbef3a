package commitlog

import (
	"errors"
	"fmt"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/sluicedata/sluice/parquetfile"
)

// rowGroup is a part of a log checkpoint in Parquet: rows of which each has one action, in the column of its name.
type rowGroup struct {
	file    *parquetfile.File
	index   int
	root    *parquet.Column
	meta    []format.ColumnChunk
	rows    int64
	cursors []*parquetfile.Cursor
}

func newRowGroup(file *parquetfile.File, i int) *rowGroup {
	return &rowGroup{file: file, index: i, root: file.Root(), meta: file.Metadata().RowGroups[i].Columns, rows: file.RowGroups()[i].NumRows()}
}

func (g *rowGroup) close() error {
	var err error
	for _, c := range g.cursors {
		err = errors.Join(err, c.Close())
	}
	return err
}

// leaf walks over the values of a column. One that is not in the file, or has nothing but nulls by its statistics, is nil.
type leaf struct {
	*parquetfile.Cursor
	def int // definition level of a value that is there
}

func (g *rowGroup) leaf(path ...string) *leaf { return g.leafOf(g.column(path...)) }

// column is nil when there is none of the path.
func (g *rowGroup) column(path ...string) *parquet.Column {
	c := g.root
	for _, name := range path {
		if c = c.Column(name); c == nil {
			return nil
		}
	}
	return c
}

func (g *rowGroup) leafOf(c *parquet.Column) *leaf {
	if c == nil || !c.Leaf() {
		return nil
	}
	// An empty list counts as a null.
	if m := &g.meta[c.Index()].MetaData; m.NumValues == m.Statistics.NullCount && c.MaxRepetitionLevel() == 0 {
		return nil
	}
	cursor := g.file.Cursor(g.index, c.Index())
	g.cursors = append(g.cursors, cursor)
	return &leaf{cursor, c.MaxDefinitionLevel()}
}

var errShort = errors.New("a column ends before the others")

// next is the next row's value in a column that has one for each row; ok is false for null.
func (l *leaf) next() (v parquet.Value, ok bool, err error) {
	if l == nil {
		return v, false, nil
	}
	has, err := l.Peek()
	switch {
	case err != nil:
		return v, false, err
	case !has:
		return v, false, errShort
	}
	v = l.Next()
	return v, v.DefinitionLevel() == l.def, nil
}

// intOf is a number of either width.
func intOf(v parquet.Value) int64 {
	if v.Kind() == parquet.Int32 {
		return int64(v.Int32())
	}
	return v.Int64()
}

// mapping walks over the entries of a map column, row by row. Names of its inner levels differ between writers.
type mapping struct {
	there      int // definition level of a map that is there
	key, value *leaf
}

// mapping returns nil when the column is not in the file, or null in all rows.
func (g *rowGroup) mapping(path ...string) (*mapping, error) {
	c := g.column(path...)
	if c == nil {
		return nil, nil
	}
	if len(c.Columns()) != 1 || len(c.Columns()[0].Columns()) != 2 {
		return nil, fmt.Errorf("column %s is no map", strings.Join(path, "."))
	}
	entry := c.Columns()[0].Columns()
	m := &mapping{there: c.MaxDefinitionLevel(), key: g.leafOf(entry[0]), value: g.leafOf(entry[1])}
	if m.key == nil || m.value == nil {
		return nil, fmt.Errorf("column %s is no map of texts", strings.Join(path, "."))
	}
	return m, nil
}

// next calls fn for the entries of the next row's map; ok is false when the map is null.
func (m *mapping) next(fn func(key, value []byte, there bool)) (ok bool, err error) {
	for first := true; ; first = false {
		has, err := m.key.Peek()
		if err != nil {
			return false, err
		}
		if !has && first {
			return false, errShort
		}
		if !has || !first && m.key.Front().RepetitionLevel() == 0 {
			return ok, nil
		}
		key := m.key.Next()
		value, there, err := m.value.next()
		if err != nil {
			return false, err
		}
		ok = key.DefinitionLevel() >= m.there
		if key.DefinitionLevel() == m.key.def {
			fn(key.ByteArray(), value.ByteArray(), there)
		}
	}
}

// actionRow is one action: the values of the leaves below it, by their paths.
type actionRow struct {
	action *parquet.Column
	values map[string][]parquet.Value
}

// action gathers the rows that have an action of which there are few. Those are the rows that have its key, a member that
// every such action has.
func (g *rowGroup) action(name, key string) ([]actionRow, error) {
	l := g.leaf(name, key)
	if l == nil {
		return nil, nil
	}
	var rows []actionRow
	at := map[int64]int{}
	first, last := int64(-1), int64(-1) // of the rows
	for row := int64(0); row < g.rows; row++ {
		nulls, err := l.SkipPages(func(page parquet.Page) bool { return page.NumNulls() == page.NumValues() })
		if err != nil {
			return nil, err
		}
		if row += nulls; row >= g.rows {
			break
		}
		_, ok, err := l.next()
		if err != nil {
			return nil, err
		}
		if ok {
			if at[row], last = len(rows), row; first < 0 {
				first = row
			}
			rows = append(rows, actionRow{g.column(name), map[string][]parquet.Value{}})
		}
	}
	if len(rows) == 0 {
		return nil, nil
	}
	var gather func(c *parquet.Column, path string) error
	gather = func(c *parquet.Column, path string) error {
		for _, child := range c.Columns() {
			if err := gather(child, strings.TrimPrefix(path+"."+child.Name(), ".")); err != nil {
				return err
			}
		}
		l := g.leafOf(c)
		if l == nil {
			return nil
		}
		left := first
		before, err := l.SkipPages(func(page parquet.Page) bool {
			left -= page.NumRows()
			return left >= 0
		})
		if err != nil {
			return err
		}
		for row := before - 1; ; {
			has, err := l.Peek()
			if err != nil || !has {
				return err
			}
			v := l.Next()
			if v.RepetitionLevel() == 0 {
				row++
			}
			if row > last {
				return nil
			}
			if i, ok := at[row]; ok {
				rows[i].values[path] = append(rows[i].values[path], v.Clone())
			}
		}
	}
	return rows, gather(g.column(name), "")
}

// text is a value that is no list; ok is false when it is null.
func (a actionRow) text(path string) (string, bool) {
	if v := a.values[path]; len(v) == 1 && !v[0].IsNull() {
		return string(v[0].ByteArray()), true
	}
	return "", false
}

func (a actionRow) int(path string) (int64, bool) {
	if v := a.values[path]; len(v) == 1 && !v[0].IsNull() {
		return intOf(v[0]), true
	}
	return 0, false
}

func (a actionRow) bool(path string) (v, ok bool) {
	if v := a.values[path]; len(v) == 1 && !v[0].IsNull() {
		return v[0].Boolean(), true
	}
	return false, false
}

// below returns the values of the one or two leaves inside a list or map, nil when that is null.
func (a actionRow) below(path ...string) [][]parquet.Value {
	top := a.action
	for _, name := range path {
		if top = top.Column(name); top == nil {
			return nil
		}
	}
	there := top.MaxDefinitionLevel()
	prefix := strings.Join(path, ".")
	var leaves [][]parquet.Value
	var gather func(c *parquet.Column, path string)
	gather = func(c *parquet.Column, path string) {
		if c.Leaf() {
			leaves = append(leaves, a.values[path])
		}
		for _, child := range c.Columns() {
			gather(child, path+"."+child.Name())
		}
	}
	gather(top, prefix)
	if len(leaves) == 0 || len(leaves[0]) == 0 || leaves[0][0].DefinitionLevel() < there {
		return nil
	}
	return leaves
}

// list is nil when the list is null.
func (a actionRow) list(path ...string) []string {
	leaves := a.below(path...)
	if len(leaves) != 1 {
		return nil
	}
	texts := []string{}
	for _, v := range leaves[0] {
		if !v.IsNull() {
			texts = append(texts, string(v.ByteArray()))
		}
	}
	return texts
}

// texts is a map of texts, nil when it is null. Entries without a value are left out.
func (a actionRow) texts(path ...string) map[string]string {
	leaves := a.below(path...)
	if len(leaves) != 2 || len(leaves[0]) != len(leaves[1]) {
		return nil
	}
	texts := map[string]string{}
	for i, key := range leaves[0] {
		if !key.IsNull() && !leaves[1][i].IsNull() {
			texts[string(key.ByteArray())] = string(leaves[1][i].ByteArray())
		}
	}
	return texts
}
