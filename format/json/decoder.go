package json

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/source"
)

// Tombstones says what becomes of Kafka records without a value, which have no columns to give.
type Tombstones int

const (
	// TombstonesBad makes each a bad record. It is the default: nothing disappears unseen.
	TombstonesBad Tombstones = iota
	// TombstonesDropped leaves them out; Decoder.Tombstones counts them.
	TombstonesDropped
)

// Options are a decoder's settings. The zero value is the default.
type Options struct {
	Tombstones Tombstones
}

// Decoder decodes JSON records into columns. It is a format.Decoder.
type Decoder struct {
	scanner
	calendar calendar

	columns []*column // as given to New
	root    node
	top     *taker // of the root
	shape   string // see recordShape
	meta    []metaColumn
	rows    int
	fields  []arrow.Field // of the next record
	schema  *arrow.Schema // of these; nil when columns have become plain since the last record
	options Options

	pending    int64 // bytes that went into the columns since the last Flush, at most
	unknown    unknownFields
	tombstones int64

	path   []string // of the value that does not fit, from the inside out
	column string   // that it does not fit
}

var _ format.Decoder = (*Decoder)(nil)

// New returns a decoder for the columns. An error tells all columns that can't be decoded, a line each.
func New(columns []format.Column, options Options) (*Decoder, error) {
	d := &Decoder{calendar: newCalendar(), options: options, unknown: newUnknownFields()}
	var faults []string
	for _, c := range columns {
		if err := d.add(c); err != nil {
			faults = append(faults, fmt.Sprintf("column %s: %v", c.Name, err))
			continue
		}
		d.fields = append(d.fields, arrow.Field{Name: c.Name, Type: c.Type.ArrowType(), Nullable: c.Nullable})
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("compile the columns for format json: %s", strings.Join(faults, "\n"))
	}
	settle([]*node{&d.root}, true)
	d.top, d.shape = d.root.taker(), d.root.recordShape()
	return d, nil
}

func (d *Decoder) add(c format.Column) error {
	if c.Type == nil {
		return fmt.Errorf("it has no type; give it one")
	}
	col := newColumn(c.Type, c.Nullable)
	if c.Meta != "" {
		m, err := newMetaColumn(c, col)
		if err != nil {
			return err
		}
		d.meta = append(d.meta, m)
		d.columns = append(d.columns, col)
		return nil
	}
	path := c.From
	if len(path) == 0 {
		path = format.Path{{Field: c.Name}}
	}
	if c.Name == "" {
		return fmt.Errorf("it has no name; give it one")
	}
	d.columns = append(d.columns, col)
	return d.root.grow(path, c.Name, col)
}

// Decode appends the block's good records to the columns. It fails when bad does, when the block has not what a meta
// column asks for, and when the columns would grow beyond 2 GiB: Flush is to be called before that.
func (d *Decoder) Decode(b *source.Block, bad func(format.Bad) error) error {
	if err := d.checkBlock(b); err != nil {
		return err
	}
	faults := b.Faults
	for i, value := range b.Values {
		for len(faults) > 0 && faults[0].Index < i {
			faults = faults[1:]
		}
		switch {
		case len(faults) > 0 && faults[0].Index == i:
			d.refuse("%s", faults[0].Reason)
		case value == nil && b.Kafka != nil:
			if d.options.Tombstones == TombstonesDropped {
				d.tombstones++
				continue
			}
			d.refuse("tombstone (null value)")
		default:
			bytes := int64(len(value)) // to any one column, at most
			if len(d.meta) > 0 {
				bytes += metaBytes(b, i)
			}
			if d.pending+bytes > math.MaxInt32 {
				return fmt.Errorf("decode %s at %d: more than 2 GiB of records since the last flush: flush more often, with a smaller batch.max_bytes",
					b.Partition, b.Positions[i])
			}
			if d.record(value) && (len(d.meta) == 0 || d.appendMeta(b, i)) {
				d.unknown.settle(true)
				d.pending += bytes
				d.rows++
				continue
			}
			d.unknown.settle(false)
			d.cut()
		}
		if err := bad(d.fault(b, i)); err != nil {
			return err
		}
	}
	return nil
}

func (d *Decoder) record(value []byte) bool {
	p := d.load(value)
	if p < 0 {
		return false
	}
	switch {
	case len(d.root.takers) == 0:
		p = d.skip(p)
	case d.buf[p] == 'n' && d.shape != "":
		p = d.mismatch(p, d.shape)
	default:
		if p = d.top.take(d, d.top, p); p < 0 {
			d.blame(d.top)
		}
	}
	return d.finish(p)
}

// recordShape is what records have to be for the paths that lead into them; empty when any value will do.
func (n *node) recordShape() string {
	for i := range n.takers {
		switch n.takers[i].op {
		case enterObject:
			return "an object"
		case enterArray:
			return "an array"
		}
	}
	return ""
}

// cut takes back what a bad record has left.
func (d *Decoder) cut() {
	for _, c := range d.columns {
		c.truncate(d.rows)
	}
}

// fault tells of the record that was bad last, and forgets where.
func (d *Decoder) fault(b *source.Block, i int) format.Bad {
	bad := format.Bad{Partition: b.Partition, Position: b.Positions[i], Reason: d.reason, Value: b.Values[i]}
	switch {
	case d.broken:
	case len(d.path) > 0:
		bad.Column, bad.Reason = d.column, "field "+d.faultPath()+": "+d.reason
	case d.column == "":
		bad.Reason = "record: " + d.reason
	default:
		bad.Column = d.column
	}
	d.column, d.path = "", d.path[:0]
	return bad
}

func (d *Decoder) faultPath() string {
	var b strings.Builder
	for i, step := range slices.Backward(d.path) {
		if i < len(d.path)-1 && step[0] != '[' {
			b.WriteByte('.')
		}
		b.WriteString(step)
	}
	return b.String()
}

// Rows is the number of rows since the last Flush.
func (d *Decoder) Rows() int { return d.rows }

// Bytes is what the rows since the last Flush take.
func (d *Decoder) Bytes() int64 {
	var n int64
	for _, c := range d.columns {
		n += c.bytes()
	}
	return n
}

// Flush returns the rows, and takes their memory back when the last reference to them is released. Strings of which a column has few are
// an arrow.Dictionary with 32-bit indices, also inside of others; which columns that are may change from record to record.
func (d *Decoder) Flush() arrow.Record {
	if d.schema == nil {
		for i, c := range d.columns {
			d.fields[i].Type = c.arrowType()
		}
		d.schema = arrow.NewSchema(d.fields, nil)
	}
	arrays := make([]arrow.Array, len(d.columns))
	for i, c := range d.columns {
		data := c.flush(d.schema.Field(i).Type)
		arrays[i] = array.MakeFromData(data)
		data.Release()
	}
	record := array.NewRecord(d.schema, arrays, int64(d.rows))
	for _, a := range arrays {
		a.Release()
	}
	d.rows, d.pending = 0, 0
	return record
}

// Unknown counts the fields of good records that no column takes, by path, since New. A field below an unknown one is not
// counted by itself. Behind format.MaxUnknown paths, all others count under format.UnknownRest.
func (d *Decoder) Unknown() map[string]int64 { return d.unknown.counts() }

// Tombstones is the number of records without a value that were left out, since New.
func (d *Decoder) Tombstones() int64 { return d.tombstones }
