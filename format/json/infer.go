package json

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/source"
)

// maxTypeDepth bounds the nesting of inferred types; what lies deeper is kept as text.
const maxTypeDepth = 32

// Inferrer learns columns from a sample. It is a format.Inferrer. The columns depend on the records and their order
// alone, and any record that was learned from decodes with them. Not safe for concurrent use.
//
// The rules, for all values that were seen at one place (docs/json.md, "Inference"):
//
//   - true and false are boolean. Numbers without point and exponent are bigint; numbers with either are double, and so
//     are both together when a double holds every such integer exactly. Strings are timestamp when each is one by RFC 3339,
//     date when each is a date, string otherwise. Objects are structs, their fields in the order in which they were first
//     seen; arrays are arrays.
//   - Everything else is string, and holds the values' JSON text: different kinds at one place, numbers that neither a
//     bigint nor a double holds, objects without fields or with more than 1000, with names that Delta does not allow, or
//     nested more than 32 deep.
//   - Only nulls are string. An array of which no element was seen is array<string>.
//   - Records that are arrays give the columns c0, c1, …, one for each index.
type Inferrer struct {
	scanner
	calendar calendar

	objects, arrays shape // of the records that are either

	records, objectCount, arrayCount, bad int64
	firstBad                              string
	notices                               []string
}

var _ format.Inferrer = (*Inferrer)(nil)

// NewInferrer returns an inferrer that has seen nothing.
func NewInferrer() *Inferrer {
	return &Inferrer{scanner: scanner{paired: true}, calendar: newCalendar()}
}

// Infer learns from the block's records. Bad ones, those with a lone surrogate anywhere included, are counted and skipped; tombstones are skipped. It never fails.
func (in *Inferrer) Infer(b *source.Block) error {
	faults := map[int]string{}
	for _, f := range b.Faults {
		faults[f.Index] = f.Reason
	}
	for i, value := range b.Values {
		if value == nil && b.Kafka != nil {
			continue
		}
		in.records++
		reason, ok := faults[i]
		if !ok && in.record(value) {
			continue
		}
		if !ok {
			reason = in.reason
		}
		if in.bad++; in.bad == 1 {
			in.firstBad = fmt.Sprintf("%s at %d: %s", b.Partition, b.Positions[i], reason)
		}
	}
	return nil
}

// record adds one record, once all of it has been found well-formed.
func (in *Inferrer) record(value []byte) bool {
	p := in.load(value)
	if p < 0 {
		return false
	}
	if !in.finish(in.skip(p)) {
		return false
	}
	switch in.buf[p] {
	case '{':
		in.objectCount++
		in.observe(&in.objects, p)
	case '[':
		in.arrayCount++
		in.observe(&in.arrays, p)
	}
	return true
}

// Skipped is the number of bad records among those seen.
func (in *Inferrer) Skipped() (bad, records int64) { return in.bad, in.records }

// Columns returns the columns, all nullable, and what a user should know about them. It fails when the records seen give
// none.
func (in *Inferrer) Columns() ([]format.Column, []string, error) {
	in.notices = nil
	if in.bad > 0 {
		in.notice("%d of %d sampled records are bad and were skipped, the first one %s", in.bad, in.records, in.firstBad)
	}
	var columns []format.Column
	taken := in.objectCount
	if in.objectCount > 0 {
		columns = in.fieldColumns()
	} else {
		taken = in.arrayCount
		columns = in.elementColumns()
	}
	if len(columns) == 0 {
		return nil, in.notices, fmt.Errorf("infer columns from %d json records (%d of them bad): none is an object or an array with something in it; "+
			"declare the columns, for example one of type string with from: $", in.records, in.bad)
	}
	if rest := in.records - in.bad - taken; rest > 0 {
		in.notice("%d of %d sampled records are of another kind than the rest, and would be bad records", rest, in.records)
	}
	return columns, in.notices, nil
}

func (in *Inferrer) notice(format string, args ...any) {
	in.notices = append(in.notices, fmt.Sprintf(format, args...))
}

func (in *Inferrer) fieldColumns() []format.Column {
	names := newColumnNames(in.objects.fields)
	columns := make([]format.Column, 0, len(in.objects.fields))
	for _, f := range in.objects.fields {
		if f.name == "" {
			in.notice("a field with an empty name is left out: no path leads to it")
			continue
		}
		name := names.legal(f.name)
		c := format.Column{Name: name, Type: in.typeOf(f.shape, fieldPath("", f.name), 1), Nullable: true}
		if name != f.name {
			c.From = format.Path{{Field: f.name}}
			in.notice("field %q becomes column %s: %s", f.name, name, renameReason(f.name))
		}
		columns = append(columns, c)
	}
	if in.objects.unlisted {
		in.notice("only the first %d fields become columns", maxFields)
	}
	return columns
}

func (in *Inferrer) elementColumns() []format.Column {
	columns := make([]format.Column, len(in.arrays.positions))
	for i, s := range in.arrays.positions {
		path := format.Path{{Index: i}}
		columns[i] = format.Column{Name: "c" + strconv.Itoa(i), Type: in.typeOf(s, path.String(), 1), Nullable: true, From: path}
	}
	if in.arrays.unlisted {
		in.notice("only the first %d elements become columns", maxFields)
	}
	return columns
}

// typeOf returns the type for the values of a shape.
func (in *Inferrer) typeOf(s *shape, place string, depth int) *schema.Type {
	switch s.seen {
	case sawBoolean:
		return schema.Of(schema.Boolean)
	case sawLong:
		return schema.Of(schema.Long)
	case sawDouble:
		return schema.Of(schema.Double)
	case sawLong | sawDouble:
		if !s.inexact {
			return schema.Of(schema.Double)
		}
	case sawText:
		switch {
		case !s.notTimestamp:
			return schema.Of(schema.Timestamp)
		case !s.notDate:
			return schema.Of(schema.Date)
		}
	case sawArray:
		if depth < maxTypeDepth {
			return schema.ArrayOf(in.typeOf(s.elem, place+"[]", depth+1))
		}
	case sawObject:
		if depth < maxTypeDepth {
			return in.structOf(s, place, depth)
		}
	}
	return schema.Of(schema.String)
}

// structOf returns a struct for the objects of a shape, or string where a struct can't be.
func (in *Inferrer) structOf(s *shape, place string, depth int) *schema.Type {
	if len(s.fields) == 0 {
		return schema.Of(schema.String)
	}
	if s.unlisted {
		in.notice("field %s is kept as text: its objects have more than %d different fields; declare it map<string,…> if the names are data", place, maxFields)
		return schema.Of(schema.String)
	}
	folded := map[string]string{}
	for _, f := range s.fields {
		fault := nameFault(f.name)
		if earlier, ok := folded[strings.ToLower(f.name)]; ok && fault == "" {
			fault = fmt.Sprintf("it differs from %q in case only", earlier)
		}
		if fault != "" {
			in.notice("field %s is kept as text: the name %q inside it can't be a column's: %s", place, f.name, fault)
			return schema.Of(schema.String)
		}
		folded[strings.ToLower(f.name)] = f.name
	}
	t := &schema.Type{Kind: schema.Struct}
	for _, f := range s.fields {
		t.Fields = append(t.Fields, schema.Field{Name: f.name, Type: in.typeOf(f.shape, fieldPath(place, f.name), depth+1), Nullable: true})
	}
	return t
}

// nameFault says why a column can't have the name, or nothing.
func nameFault(name string) string {
	switch {
	case name == "":
		return "it is empty"
	case strings.ContainsRune(name, '.'):
		return "it holds a dot, which paths are separated by"
	case schema.CheckName(name) != nil:
		return "it holds one of the characters that Delta does not allow in names"
	default:
		return ""
	}
}

// renameReason says why a field can't keep its name.
func renameReason(name string) string {
	if fault := nameFault(name); fault != "" {
		return fault
	}
	return "another column's name differs in case only"
}

// columnNames gives fields legal names that differ in more than case.
type columnNames struct {
	taken map[string]bool // in lower case
	own   map[string]bool // fields that keep their names
}

// newColumnNames lets every field that can keep its name do so, whatever the fields before it would be renamed to.
func newColumnNames(fields []shapeField) columnNames {
	n := columnNames{taken: map[string]bool{}, own: map[string]bool{}}
	for _, f := range fields {
		folded := strings.ToLower(f.name)
		if nameFault(f.name) == "" && !n.taken[folded] {
			n.taken[folded], n.own[f.name] = true, true
		}
	}
	return n
}

func (n columnNames) legal(field string) string {
	if n.own[field] {
		return field
	}
	base := strings.ReplaceAll(schema.LegalName(field), ".", "_")
	name := base
	for i := 2; n.taken[strings.ToLower(name)]; i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	n.taken[strings.ToLower(name)] = true
	return name
}
