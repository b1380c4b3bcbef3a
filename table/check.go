package table

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/parquetfile"
	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/storage"
)

// MissingError says that a file of the table, or that of its deletion vector, is not there.
type MissingError struct{ Vector string } // path of the vector's; empty: the file itself

func (e *MissingError) Error() string {
	if e.Vector != "" {
		return "its deletion vector " + e.Vector + " is missing"
	}
	return "it is missing"
}

// Check holds a file against what the log says of it: its size, its footer, the number of its rows, and its deletion vector;
// deep reads all of its values as well, against the checksums of their pages, and compares them with the statistics in the log and in the file's
// footer; texts have to be UTF-8. It returns what is wrong, a *MissingError
// among it if the file or that of its vector is not there. An error is of the storage, of the context, or a
// *commitlog.UnsupportedError for a file in another kind of store.
func (s *Snapshot) Check(ctx context.Context, f *File, deep bool) (faults []error, err error) {
	c := &fileCheck{snapshot: s, file: f}
	for _, step := range []func(context.Context) error{c.footer, c.vector, c.values} {
		err := step(ctx)
		var stored *storage.Error
		var elsewhere *commitlog.UnsupportedError
		switch {
		case err == nil:
		case ctx.Err() != nil, errors.As(err, &elsewhere), errors.As(err, &stored) && !errors.Is(err, storage.ErrNotExist):
			return c.faults, err
		default:
			c.faults = append(c.faults, err)
		}
		if !deep || len(c.faults) > 0 {
			c.skipValues = true
		}
	}
	return c.faults, nil
}

// fileCheck is one file being checked. What its steps return is a fault, too.
type fileCheck struct {
	snapshot   *Snapshot
	file       *File
	rows       int64 // in the file; -1 while unknown
	skipValues bool
	faults     []error
}

func (c *fileCheck) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Errorf(format, args...))
}

func (c *fileCheck) footer(ctx context.Context) (err error) {
	c.rows = -1
	at, err := c.snapshot.place(c.file.Path)
	if err != nil {
		return err
	}
	object, err := at.open(ctx)
	if errors.Is(err, storage.ErrNotExist) {
		return &MissingError{}
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, object.Close()) }()
	if size := object.Size(); size != c.file.Size {
		c.fault("it has %d bytes, the log says %d", size, c.file.Size)
	}
	file, err := parquetfile.Open(object, object.Size())
	if err != nil {
		return fmt.Errorf("it cannot be read: %w", err)
	}
	c.rows = file.NumRows()
	if said := commitlog.RowsOf(c.file.add.Stats, nil); said >= 0 && said != c.rows {
		c.fault("it has %d rows, the log says %d", c.rows, said)
	}
	return nil
}

func (c *fileCheck) vector(ctx context.Context) error {
	v := c.file.deleted
	if v == nil {
		return nil
	}
	body, err := c.snapshot.vectorBytes(ctx, v)
	if errors.Is(err, storage.ErrNotExist) {
		path, _ := v.Path()
		return &MissingError{path}
	}
	if err != nil || c.rows < 0 {
		return err
	}
	_, err = parseVector(body, v.Cardinality, c.rows)
	return err
}

// values reads the file's rows, also those that have been deleted, and compares each with the statistics.
func (c *fileCheck) values(ctx context.Context) error {
	if c.skipValues {
		return nil
	}
	stored := storedColumns(c.snapshot.schema, c.snapshot.partitions)
	stats := c.file.Stats()
	columns := stats.columns(stored)
	notUTF8 := map[string]string{} // a text of each column with such
	whole := *c.file
	whole.deleted = nil
	r, err := c.snapshot.reader(ctx, &whole, stored, func(rows arrow.Record) error {
		for _, column := range columns {
			column.take(stored, rows)
		}
		for i, f := range stored.Fields {
			if text, found := invalidText(rows.Column(i)); found {
				notUTF8[f.Name] = text
			}
		}
		return nil
	})
	var footer []*footerCheck
	if err == nil {
		r.opened = func(file *parquetfile.File, group int, leaf *leafColumn) error {
			check, err := watchFooter(file, group, leaf)
			footer = append(footer, check)
			return err
		}
		err = r.read(ctx)
	}
	if err != nil {
		return fmt.Errorf("it cannot be read: %w", err)
	}
	for _, column := range columns {
		column.judge(c, stats)
	}
	for _, leaf := range footer {
		leaf.judge(c)
	}
	for _, name := range slices.Sorted(maps.Keys(notUTF8)) {
		c.fault("column %s has the text %q, which is not UTF-8", name, notUTF8[name])
	}
	return nil
}

// invalidText finds a text in an array, or in one below it, that is not UTF-8.
func invalidText(a arrow.Array) (text string, found bool) {
	switch a := a.(type) {
	case *array.String:
		for i := range a.Len() {
			if text = a.Value(i); !utf8.ValidString(text) {
				return text, true
			}
		}
	case *array.Struct:
		for i := range a.NumField() {
			if text, found = invalidText(a.Field(i)); found {
				return text, true
			}
		}
	case array.ListLike: // a map is a list of structs
		return invalidText(a.ListValues())
	}
	return "", false
}

// statCheck is a column with statistics, and what its values have shown.
type statCheck struct {
	name string
	path []string
	heldBounds
	nulls int64 // that were counted
}

// heldBounds are bounds, and what of the values that are held against them is outside.
type heldBounds struct {
	min, max     Value // that are said; nil if there are none
	some         bool  // there was a value
	below, above Value // values outside; nil if there are none
}

func (b *heldBounds) take(v Value) {
	b.some = true
	if isNaN(v) {
		return // some writers leave NaN out of their bounds
	}
	if b.min != nil && compareValues(v, b.min) < 0 {
		b.below = v
	}
	if b.max != nil && compareValues(v, b.max) > 0 {
		b.above = v
	}
}

func (b *heldBounds) judge(check *fileCheck, what, by string) {
	if b.below != nil {
		check.fault("%s has %v, below the least value by %s, %v", what, b.below, by, b.min)
	}
	if b.above != nil {
		check.fault("%s has %v, above the greatest value by %s, %v", what, b.above, by, b.max)
	}
}

// columns are those of which there are statistics.
func (s *FileStats) columns(t *schema.Type) []*statCheck {
	if s == nil {
		return nil
	}
	names := map[string]struct{}{}
	for _, side := range []map[string]Value{s.Min, s.Max} {
		for name := range side {
			names[name] = struct{}{}
		}
	}
	for name := range s.Nulls {
		names[name] = struct{}{}
	}
	var columns []*statCheck
	for _, name := range slices.Sorted(maps.Keys(names)) {
		path := strings.Split(name, ".")
		switch typ := typeAt(t, path); {
		case typ == nil, typ.Kind == schema.Struct, typ.Kind == schema.Array, typ.Kind == schema.Map:
		default:
			columns = append(columns, &statCheck{name: name, path: path, heldBounds: heldBounds{min: s.Min[name], max: s.Max[name]}})
		}
	}
	return columns
}

func (c *statCheck) take(t *schema.Type, rows arrow.Record) {
	for row := range int(rows.NumRows()) {
		if v := cellAt(t, rows, row, c.path); v != nil {
			c.heldBounds.take(v)
		} else {
			c.nulls++
		}
	}
}

func (c *statCheck) judge(check *fileCheck, s *FileStats) {
	c.heldBounds.judge(check, "column "+c.name, "its statistics")
	if said, ok := s.Nulls[c.name]; ok && s.Tight && check.file.deleted == nil && said != c.nulls {
		check.fault("column %s has %d nulls, its statistics say %d", c.name, c.nulls, said)
	}
}
