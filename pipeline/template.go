package pipeline

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/schema"
)

// Template is what Write makes a pipeline file from. Either Landing or Brokers and Topics are set. Paths are written as
// they are given, so relative ones are relative to the file's folder.
type Template struct {
	Name    string
	Landing string // folder or glob
	Brokers []string
	Topics  []string
	Layout  Layout          // of Landing; empty or auto is left out
	Columns []format.Column // may be empty
	Notices []string        // what inference had to say; become comments
	Table   string
}

// Write renders a commented pipeline file that loads without faults; name is the path it will have. When what the template
// holds cannot be such a file, nothing is written and the error is Faults, with the positions of the file that would have
// been written.
func Write(w io.Writer, name string, t Template) error {
	var b bytes.Buffer
	t.render(&b)
	if _, err := Parse(name, b.Bytes(), nil); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (t Template) render(b *bytes.Buffer) {
	fmt.Fprintf(b, "# Pipeline file; docs/pipeline.md describes every key. Check it with: sluice validate FILE\n")
	fmt.Fprintf(b, "name: %s   # the pipeline's appId in the table: keep it once batches are committed\n\nsource:\n", quoteValue(t.Name))
	if len(t.Brokers) > 0 || len(t.Topics) > 0 {
		t.renderKafka(b)
	} else {
		t.renderFiles(b)
	}
	t.renderColumns(b)
	t.renderTable(b)
	b.WriteString("\n# checkpoint: " + quoteValue("checkpoints/"+t.Name) + "   # default: <table>/_sluice/<name>\n")
	b.WriteString(`trigger: available-now                   # available-now | continuous | every 1m
# batch: {max_records: 1000000, max_bytes: 256MB, max_files: 1000, min_records: 0, max_delay: 0s}
on_error: fail                           # fail | skip | quarantine, or {policy: quarantine, max_bad_records: 1000}
`)
}

func (t Template) renderFiles(b *bytes.Buffer) {
	fmt.Fprintf(b, "  files:\n    path: %s   # a folder, or a glob with **; .gz and .zst are read as such\n", quoteValue(t.Landing))
	b.WriteString(`    settle: 2s                           # leave files younger than this alone
    overwritten: error                   # error | ignore | reprocess: a file that changed after it was read
`)
	if t.Layout != "" && t.Layout != LayoutAuto {
		fmt.Fprintf(b, "  format: {json: {layout: %s}}\n", quoteValue(string(t.Layout)))
		return
	}
	b.WriteString("  format: json\n")
}

func (t Template) renderKafka(b *bytes.Buffer) {
	fmt.Fprintf(b, "  kafka:\n    brokers: %s\n    topics: %s\n", quoteList(t.Brokers), quoteList(t.Topics))
	b.WriteString(`    start: earliest                      # earliest | latest | 2026-01-31T08:00:00Z | {"topic/0": 123}
    isolation: read_committed            # read_committed | read_uncommitted
    on_data_loss: fail                   # fail | skip: records that the broker deleted before they were read
    # tls: {ca: ca.pem}
    # sasl: {mechanism: SCRAM-SHA-512, username: "${KAFKA_USERNAME}", password: "${KAFKA_PASSWORD}"}
  format: json
`)
}

func (t Template) renderColumns(b *bytes.Buffer) {
	b.WriteString("\n")
	if len(t.Columns) == 0 {
		b.WriteString("# columns: without them, a new table's are inferred from its first batch\n")
		return
	}
	b.WriteString("# Inferred from a sample: make types narrower or wider here, and nullable: false where a value must be there.\n")
	for _, n := range t.Notices {
		b.WriteString(comment(n))
	}
	b.WriteString("columns:\n")
	for _, c := range t.Columns {
		b.WriteString("  - " + columnText(c) + "\n")
	}
}

func columnText(c format.Column) string {
	parts := []string{"name: " + quoteValue(c.Name)}
	if c.Type != nil {
		parts = append(parts, "type: "+quoteValue(c.Type.DDL()))
	}
	if !c.Nullable {
		parts = append(parts, "nullable: false")
	}
	if len(c.From) > 0 {
		parts = append(parts, "from: "+quoteValue(c.From.String()))
	}
	if c.Meta != "" {
		parts = append(parts, "meta: "+quoteValue(c.Meta))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (t Template) renderTable(b *bytes.Buffer) {
	fmt.Fprintf(b, "\ntable:\n  path: %s\n", quoteValue(t.Table))
	column, origin := t.partitionColumn()
	switch {
	case column == "":
		b.WriteString("  # partition_by: [day]                # a column with few values, of which queries name one; best a date\n")
	case origin == "":
		b.WriteString(comment("partition_by: " + quoteList([]string{column}) + "   # suggested: queries that name a day read only its files"))
	default:
		b.WriteString(comment("partition_by: " + quoteList([]string{column}) + "   # suggested, with one more column above:"))
		b.WriteString(comment("  - {name: " + quoteValue(column) + ", type: date, from: " + quoteValue(origin) + "}"))
	}
	b.WriteString("  # properties: {delta.appendOnly: \"true\"}\n")
}

// partitionColumn suggests the first date column; or, with an origin, a date to be taken from the first timestamp.
func (t Template) partitionColumn() (name, origin string) {
	taken := map[string]bool{}
	for _, c := range t.Columns {
		taken[strings.ToLower(c.Name)] = true
	}
	for _, c := range t.Columns {
		if c.Type != nil && c.Type.Kind == schema.Date && len(t.Columns) > 1 {
			return c.Name, ""
		}
	}
	for _, c := range t.Columns {
		if c.Type == nil || c.Type.Kind != schema.Timestamp || c.Meta != "" {
			continue
		}
		from := c.From
		if len(from) == 0 {
			from = format.Path{{Field: c.Name}}
		}
		for _, name := range []string{"day", c.Name + "_day"} {
			if !taken[strings.ToLower(name)] {
				return name, from.String()
			}
		}
	}
	return "", ""
}

// comment makes text a comment of the table or columns section.
func comment(text string) string {
	clean := strings.Map(func(r rune) rune {
		if !isPrintable(r) || isBreak(r) {
			return ' '
		}
		return r
	}, text)
	return "  # " + clean + "\n"
}
