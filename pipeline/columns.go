package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/schema"
)

const columnExample = "{name: id, type: long}"

func (r *reader) columns(v value, source Source) []format.Column {
	items, _ := r.list(v, "["+columnExample+"]")
	lines := map[string]int{} // of names in lower case
	var out []format.Column
	for _, item := range items {
		c := r.column(item, source)
		folded := strings.ToLower(c.Name)
		if first := lines[folded]; first > 0 {
			r.faultAt(item.path+".name", fmt.Sprintf("column %q is on line %d already (case does not count)", c.Name, first), "give it another name")
		} else if c.Name != "" {
			lines[folded] = r.positions[item.path+".name"].Line
		}
		out = append(out, c)
	}
	return out
}

func (r *reader) column(v value, source Source) format.Column {
	c := format.Column{Nullable: true}
	fields, ok := r.section(v, "columns[]")
	if !ok {
		return c
	}
	if n, ok := r.need(fields, v, "name", "id"); ok {
		c.Name = r.columnName(n)
	}
	if t, ok := r.need(fields, v, "type", "string"); ok {
		c.Type = r.columnType(t)
	}
	if n, ok := fields["nullable"]; ok {
		if b, ok := r.boolean(n); ok {
			c.Nullable = b
		}
	}
	from, hasFrom := fields["from"]
	meta, hasMeta := fields["meta"]
	if hasFrom {
		c.From = r.from(from)
	}
	if hasMeta {
		c.Meta = r.meta(meta, c.Type, source)
	}
	if hasFrom && hasMeta {
		r.fault(meta, "stands beside from, and a column has one origin", "keep from for a value in the record, or meta for one beside it")
	}
	return c
}

func (r *reader) columnName(v value) string {
	s, ok := r.textScalar(v, "id")
	if !ok {
		return ""
	}
	if schema.CheckName(s.text) != nil {
		legal := schema.LegalName(s.text)
		r.fault(v, fmt.Sprintf("Delta does not allow the name %s: none of space , ; { } ( ) = tab and newline may be in it", s.shown()),
			renaming(s, legal))
		return ""
	}
	return s.text
}

func renaming(s scalar, legal string) string {
	if s.expanded {
		return "write a name without these"
	}
	return fmt.Sprintf("write name: %s, and from: %s", legal, quote(format.Path{{Field: s.text}}.String()))
}

// columnType returns nil when there is a fault.
func (r *reader) columnType(v value) *schema.Type {
	const example = `string, long, timestamp, decimal(10,2) or "struct<os:string,screen_w:int>"`
	s, ok := r.textScalar(v, example)
	if !ok {
		return nil
	}
	t, err := schema.ParseDDL(s.text)
	var ddl *schema.DDLError
	switch {
	case errors.As(err, &ddl):
		at := utf8.RuneCountInString(s.text[:ddl.Offset]) + 1
		fix := ddl.Hint
		if fix == "" {
			fix = "write a type such as " + example
		}
		r.fault(v, s.shown()+" is not a type"+s.because(fmt.Sprintf("character %d: %s", at, ddl.Reason)), fix)
		return nil
	case err != nil:
		r.fault(v, s.shown()+" is not a type"+s.because(err.Error()), "write a type such as "+example)
		return nil
	}
	for _, err := range t.CheckNames(schema.Unmapped) {
		r.fault(v, "has a field that no table can have"+s.because(err.Error()), "rename the field")
		t = nil
	}
	return t
}

func (r *reader) from(v value) format.Path {
	if v.node.Kind == yaml.SequenceNode && len(v.node.Content) == 1 {
		text := "[" + v.node.Content[0].Value + "]"
		r.fault(v, "is a list in YAML, and a path is expected", "write it in quotes: "+strconv.Quote(text))
		return nil
	}
	s, ok := r.textScalar(v, "meta.producer.timestamp")
	if !ok {
		return nil
	}
	p, err := format.ParsePath(s.text)
	var fault *format.PathError
	switch {
	case errors.As(err, &fault):
		r.fault(v, s.shown()+" is not a path"+s.because(fmt.Sprintf("byte %d: %s", fault.Offset, fault.Reason)), "write a path such as meta.producer.timestamp, tags[0] or \"[3]\"")
	case err != nil:
		r.fault(v, s.shown()+" is not a path"+s.because(err.Error()), "write a path such as meta.producer.timestamp")
	}
	return p
}

// metadata is a value that a source brings beside each record.
type metadata struct {
	name  string
	types []string // as DDL; the first is the usual one
}

// metadataColumns returns what meta can be.
func metadataColumns() []metadata {
	return []metadata{
		{"file.path", []string{"string"}},
		{"file.line", []string{"long"}},
		{"file.modified", []string{"timestamp"}},
		{"kafka.topic", []string{"string"}},
		{"kafka.partition", []string{"int", "long"}},
		{"kafka.offset", []string{"long"}},
		{"kafka.timestamp", []string{"timestamp"}},
		{"kafka.key", []string{"binary", "string"}},
		{"kafka.headers", []string{"array<struct<key:string,value:binary>>"}},
	}
}

func (r *reader) meta(v value, t *schema.Type, source Source) string {
	var names []string
	for _, m := range metadataColumns() {
		names = append(names, m.name)
	}
	var name string
	oneOf(r, v, &name, names...)
	if name == "" {
		return ""
	}
	kind, _, _ := strings.Cut(name, ".")
	if kind == "file" && source.Files == nil && source.Kafka != nil || kind == "kafka" && source.Kafka == nil && source.Files != nil {
		r.fault(v, name+" is not something that this pipeline's source brings", "write one of "+strings.Join(metaOfOtherKind(kind), ", "))
		return name
	}
	m := metadataColumns()[slices.Index(names, name)]
	if t != nil && !slices.Contains(m.types, t.DDL()) {
		r.fault(v, fmt.Sprintf("%s does not fit the column's type %s", name, t.DDL()), "write type: "+quoteEach(m.types))
	}
	return name
}

func quoteEach(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = quote(v)
	}
	return strings.Join(quoted, " or ")
}

func metaOfOtherKind(kind string) []string {
	var out []string
	for _, m := range metadataColumns() {
		if !strings.HasPrefix(m.name, kind+".") {
			out = append(out, m.name)
		}
	}
	return out
}
