package json

import (
	"fmt"
	"unicode/utf8"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/source"
)

// metaColumn is a column whose values come with the record, not out of it.
type metaColumn struct {
	name   string // of the column
	meta   string
	col    *column
	append func(c *column, b *source.Block, i int) (reason string)
}

// noTimestamp is how Kafka says that a record has none.
const noTimestamp = -1

// newMetaColumn checks the column's type against the metadata it names.
func newMetaColumn(c format.Column, col *column) (metaColumn, error) {
	m := metaColumn{name: c.Name, meta: c.Meta, col: col}
	var types []string
	switch c.Meta {
	case "kafka.topic":
		types, m.append = []string{"string"}, appendTopic
	case "kafka.partition":
		types, m.append = []string{"int", "long"}, appendPartition
	case "kafka.offset", "file.line":
		types, m.append = []string{"long"}, appendPosition
	case "kafka.timestamp":
		types, m.append = []string{"timestamp"}, appendKafkaTime
	case "kafka.key":
		types, m.append = []string{"string", "binary"}, appendKey
	case "kafka.headers":
		types, m.append = []string{"array<struct<key:string,value:binary>>"}, appendHeaders
	case "file.path":
		types, m.append = []string{"string"}, appendFilePath
	case "file.modified":
		types, m.append = []string{"timestamp"}, appendModified
	default:
		return m, fmt.Errorf("there is no metadata %q; write one of kafka.topic, kafka.partition, kafka.offset, kafka.timestamp, "+
			"kafka.key, kafka.headers, file.path, file.line, file.modified", c.Meta)
	}
	if len(c.From) > 0 {
		return m, fmt.Errorf("it has both a path (%s) and metadata (%s); take one away", c.From, c.Meta)
	}
	for _, t := range types {
		if sameShape(c.Type, t) {
			return m, nil
		}
	}
	return m, fmt.Errorf("%s does not go into %s; declare the column %s", c.Meta, c.Type, types[0])
}

// sameShape says whether the type is the one spelled in DDL, but for what may be null inside.
func sameShape(t *schema.Type, ddl string) bool {
	want, err := schema.ParseDDL(ddl)
	return err == nil && sameKinds(t, want)
}

func sameKinds(a, b *schema.Type) bool {
	if a.Kind != b.Kind || len(a.Fields) != len(b.Fields) || a.Elem != nil && !sameKinds(a.Elem, b.Elem) {
		return false
	}
	for i := range a.Fields {
		if a.Fields[i].Name != b.Fields[i].Name || !sameKinds(a.Fields[i].Type, b.Fields[i].Type) {
			return false
		}
	}
	return true
}

// checkBlock makes sure that the block brings what the meta columns ask for.
func (d *Decoder) checkBlock(b *source.Block) error {
	for i := range d.meta {
		from := "kafka"
		missing := b.Kafka == nil
		if m := d.meta[i].meta; m[:5] == "file." {
			from, missing = "files", b.File == nil
		}
		if missing {
			return fmt.Errorf("decode %s: column %s takes %s, which only a source of kind %s has; take the column away",
				b.Partition, d.meta[i].name, d.meta[i].meta, from)
		}
	}
	return nil
}

// metaBytes is the most that record i's metadata adds to a column.
func metaBytes(b *source.Block, i int) int64 {
	n := 0
	if b.File != nil {
		n += len(b.File.Path)
	}
	if b.Kafka != nil {
		n += len(b.Kafka.Topic)
		if b.Kafka.Keys != nil {
			n += len(b.Kafka.Keys[i])
		}
		if b.Kafka.Headers != nil {
			for _, h := range b.Kafka.Headers[i] {
				n += len(h.Key) + len(h.Value)
			}
		}
	}
	return int64(n)
}

// appendMeta appends record i's metadata. It returns false when a value does not fit its column.
func (d *Decoder) appendMeta(b *source.Block, i int) bool {
	for k := range d.meta {
		m := &d.meta[k]
		before := m.col.n
		reason := m.append(m.col, b, i)
		if reason == "" && m.col.n == before {
			m.col.appendNull()
			if !m.col.nullable {
				reason = "missing, and not nullable"
			}
		}
		if reason != "" {
			d.column = m.name
			d.misfit(m.meta + ": " + reason)
			return false
		}
	}
	return true
}

// The functions below append record i's value, or nothing when there is none, or return why it does not fit.

func appendTopic(c *column, b *source.Block, _ int) string {
	c.appendString(b.Kafka.Topic)
	return ""
}

func appendPartition(c *column, b *source.Block, _ int) string {
	c.appendBits(uint64(b.Kafka.Partition))
	return ""
}

func appendPosition(c *column, b *source.Block, i int) string {
	c.appendBits(uint64(b.Positions[i]))
	return ""
}

func appendKafkaTime(c *column, b *source.Block, i int) string {
	ms := b.Kafka.Timestamps[i]
	if ms == noTimestamp {
		return ""
	}
	if ms < minMicros/1000 || ms > maxMicros/1000 {
		return fmt.Sprintf("%d ms is outside of the years 0001 to 9999", ms)
	}
	c.appendBits(uint64(ms * 1000))
	return ""
}

func appendKey(c *column, b *source.Block, i int) string {
	if b.Kafka.Keys == nil || b.Kafka.Keys[i] == nil {
		return ""
	}
	key := b.Kafka.Keys[i]
	if c.typ.Kind == schema.String && !utf8.Valid(key) {
		return "it is not UTF-8; declare the column binary"
	}
	c.appendBytes(key)
	return ""
}

func appendHeaders(c *column, b *source.Block, i int) string {
	entry := c.kids[0]
	if b.Kafka.Headers != nil {
		for _, h := range b.Kafka.Headers[i] {
			if !utf8.ValidString(h.Key) {
				return "the name of a header is not UTF-8"
			}
			entry.kids[0].appendString(h.Key)
			switch {
			case h.Value != nil:
				entry.kids[1].appendBytes(h.Value)
			case entry.kids[1].nullable:
				entry.kids[1].appendNull()
			default:
				return fmt.Sprintf("header %q has no value, and the field value is not nullable", h.Key)
			}
			entry.n++
		}
	}
	c.closeList()
	return ""
}

func appendFilePath(c *column, b *source.Block, _ int) string {
	if !utf8.ValidString(b.File.Path) {
		return "it is not UTF-8"
	}
	c.appendString(b.File.Path)
	return ""
}

// appendModified appends the time in microseconds, rounded down where the file system knows nanoseconds.
func appendModified(c *column, b *source.Block, _ int) string {
	if b.File.Modified.IsZero() {
		return ""
	}
	micros := b.File.Modified.UnixMicro()
	if micros < minMicros || micros > maxMicros {
		return "it is outside of the years 0001 to 9999"
	}
	c.appendBits(uint64(micros))
	return ""
}
