package pipeline

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/format"
)

func inferred(t testing.TB) []format.Column {
	return []format.Column{
		{Name: "id", Type: ddl(t, "long")},
		{Name: "on", Type: ddl(t, "boolean"), Nullable: true},
		{Name: "1e3", Type: ddl(t, "decimal(10,2)"), Nullable: true, From: format.Path{{Field: "1e3 $x"}}},
		{Name: "US_Gross", Type: ddl(t, "array<map<string,double>>"), Nullable: true, From: format.Path{{Field: "US Gross"}}},
		{Name: "größe", Type: ddl(t, "struct<`a-b`:string,c:int NOT NULL>"), Nullable: true, From: format.Path{{Field: "größe.\"`"}, {Index: 3}}},
		{Name: "c3", Type: ddl(t, "string"), Nullable: true, From: format.Path{{Index: 3}}},
		{Name: "whole", Type: ddl(t, "string"), Nullable: true, From: format.Whole()},
		{Name: "ts", Type: ddl(t, "timestamp"), Nullable: true, From: format.Path{{Field: "meta"}, {Field: "ts"}}},
	}
}

func TestTemplatesLoadAgain(t *testing.T) {
	files := func(f Template) Template { f.Landing = "landing: \"new\"/**/*.ndjson"; return f }
	kafka := func(f Template) Template {
		f.Brokers, f.Topics = []string{"a:9092", "[::1]:9092"}, []string{"t", "on", "7"}
		return f
	}
	common := Template{
		Name: "123", Table: "lake/$HOME # 'x'", Columns: inferred(t),
		Notices: []string{"US Gross became US_Gross\nname: \u2028injected"},
	}
	plain := Template{Name: "plain", Table: "lake/t"}
	for _, tmpl := range []Template{files(common), kafka(common), files(plain), kafka(plain)} {
		var b bytes.Buffer
		if err := Write(&b, "dir/p.yaml", tmpl); err != nil {
			t.Errorf("Write: %v", err)
			continue
		}
		f := mustParse(t, b.String())
		if f.Name != tmpl.Name || f.Table.Path != "dir/"+tmpl.Table {
			t.Errorf("name %q, table %q", f.Name, f.Table.Path)
		}
		if diff := cmp.Diff(tmpl.Columns, f.Columns); diff != "" {
			t.Errorf("columns (-want +got):\n%s", diff)
		}
		if k := f.Source.Kafka; k != nil && (!cmp.Equal(k.Brokers, tmpl.Brokers) || !cmp.Equal(k.Topics, tmpl.Topics)) {
			t.Errorf("kafka = %+v", k)
		}
		if s := f.Source.Files; s != nil && s.Path != "dir/"+tmpl.Landing {
			t.Errorf("path = %q", s.Path)
		}
	}
}

// uncomment makes the comments of a section that look like keys or items into those.
func uncomment(text string, lines ...string) string {
	for _, l := range lines {
		text = strings.Replace(text, "# "+l, l, 1)
	}
	return text
}

func TestTemplateCommentsCanBeUncommented(t *testing.T) {
	tmpl := Template{Name: "x", Landing: "landing", Table: "lake/t", Layout: LayoutArray, Columns: inferred(t)}
	var b bytes.Buffer
	if err := Write(&b, "p.yaml", tmpl); err != nil {
		t.Fatal(err)
	}
	column := "  - {name: day, type: date, from: meta.ts}\n"
	text := strings.Replace(b.String(), "  # "+column, "", 1)
	text = strings.Replace(text, "\ntable:", column+"\ntable:", 1)
	text = uncomment(text, "partition_by:", "properties:", "checkpoint:", "batch:")
	f := mustParse(t, text)
	if !cmp.Equal(f.Table.PartitionBy, []string{"day"}) || f.Checkpoint != "dir/checkpoints/x" || f.Source.Format.JSON.Layout != LayoutArray {
		t.Errorf("table %+v, checkpoint %q\n%s", f.Table, f.Checkpoint, text)
	}

	b.Reset()
	if err := Write(&b, "p.yaml", Template{Name: "x", Brokers: []string{"a:1"}, Topics: []string{"t"}, Table: "lake/t"}); err != nil {
		t.Fatal(err)
	}
	text = strings.ReplaceAll(b.String(), "${KAFKA_USERNAME}", "me")
	f = mustParse(t, uncomment(text, "tls:", "sasl:"))
	if f.Source.Kafka.TLS == nil || f.Source.Kafka.SASL.Password.Reveal() != "hunter2" {
		t.Errorf("kafka = %+v", f.Source.Kafka)
	}
}

func TestTemplateSuggestsADateToPartitionBy(t *testing.T) {
	for _, c := range []struct {
		columns []format.Column
		want    string
	}{
		{nil, ""},
		{[]format.Column{{Name: "d", Type: ddl(t, "date")}}, ""},
		{[]format.Column{{Name: "a", Type: ddl(t, "timestamp")}, {Name: "d", Type: ddl(t, "date")}}, "d"},
		{[]format.Column{{Name: "a", Type: ddl(t, "timestamp")}, {Name: "Day", Type: ddl(t, "long")}}, "a_day from a"},
		{[]format.Column{{Name: "a", Type: ddl(t, "timestamp"), Meta: "kafka.timestamp"}}, ""},
	} {
		name, origin := Template{Columns: c.columns}.partitionColumn()
		got := name
		if origin != "" {
			got += " from " + origin
		}
		if got != c.want {
			t.Errorf("suggestion = %q, want %q", got, c.want)
		}
	}
}

func TestTemplateThatCannotLoadIsRefused(t *testing.T) {
	var b bytes.Buffer
	err := Write(&b, "p.yaml", Template{Name: "x", Landing: "lake", Table: "lake/t"})
	var faults Faults
	if !errors.As(err, &faults) || b.Len() > 0 {
		t.Errorf("Write = %v, with %d bytes", err, b.Len())
	}
}

func TestQuotedTextIsReadBack(t *testing.T) {
	for _, s := range []string{
		"a", "true", "null", "~", "yes", "123", "1.5", ".5", "-", "- a", "a: b", "a #b", "#", "*x", "&x", "!x", "?", "$", "$$", "${A}", "$A",
		"\x00\x01\x7f\u0085\u2028\ufeff\u00a0\U0001f600", "\"\\'", " a ", "\t\n\r", "2026-01-01", "<<", ".inf", "0x1f", "=", "%", "@", "`", "a,b", "[x]",
	} {
		f := mustParse(t, "name: x\nsource: {files: {path: landing}}\ntable: {path: lake/t, properties: {a: "+quoteValue(s)+"}}\n")
		if got := f.Table.Properties["a"]; got != s {
			t.Errorf("%q came back as %q", s, got)
		}
	}
}
