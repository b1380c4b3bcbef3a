package interop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/schema"
)

func column(t *testing.T, name, ddl string, from ...format.Step) format.Column {
	t.Helper()
	typ, err := schema.ParseDDL(ddl)
	if err != nil {
		t.Fatal(err)
	}
	return format.Column{Name: name, Type: typ, Nullable: true, From: from}
}

func writeSource(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSourceIsReadAsTypesWantIt(t *testing.T) {
	venv := Readers(t)
	columns := []format.Column{
		column(t, "n", "bigint"), column(t, "d", "decimal(5,2)"), column(t, "f", "float"),
		column(t, "t", "timestamp", format.Step{Field: "meta"}, format.Step{Field: "t"}),
		column(t, "day", "date", format.Step{Field: "meta"}, format.Step{Field: "t"}),
		column(t, "s", "string"), column(t, "l", "array<int>"), column(t, "st", "struct<a:int not null,`b c`:string>"),
		column(t, "m", "map<string,double>"),
	}
	source := `{"n":9007199254740993,"d":12.5,"f":0.1,"meta":{"t":"2024-02-29T23:30:00.000001-01:00"},"s":"é","l":[1,null]}
{"n":1e3,"d":"-0.01","s":{ "x" : 1.50 },"st":{"a":1,"b c":null},"m":{"k":1,"j":null}}` + "\r\n\n" + `{"s":"last"}`
	got, err := venv.Source(t.Context(), columns, writeSource(t, "s.ndjson", source))
	if err != nil {
		t.Fatal(err)
	}
	arrowSchema, rec := recordOf(t, columns, `[
		{"n":9007199254740993,"d":"12.50","f":0.1,"t":"2024-03-01T00:30:00.000001Z","day":"2024-03-01","s":"é","l":[1,null]},
		{"n":1000,"d":"-0.01","s":"{ \"x\" : 1.50 }","st":{"a":1,"b c":null},"m":[{"key":"k","value":1},{"key":"j","value":null}]},
		{"s":"last"}]`)
	if diff := cmp.Diff(contentOf(t, arrowSchema, rec), got.Content); diff != "" || got.Bad != 0 {
		t.Errorf("%d bad %v: %s", got.Bad, got.Faults, diff)
	}
}

func TestSourceCountsWhatAColumnCannotHold(t *testing.T) {
	venv := Readers(t)
	columns := []format.Column{
		column(t, "i", "int"), column(t, "d", "decimal(3,1)"), column(t, "x", "double"),
		column(t, "t", "timestamp"), column(t, "s", "string"),
	}
	good := `{"i":1}`
	bad := []string{
		`{"i":2147483648}`, `{"i":1.5}`, `{"i":"1"}`, `{"i":true}`, `{"d":1.25}`, `{"d":100}`, `{"x":1e400}`,
		`{"t":"2024-02-30T00:00:00Z"}`, `{"t":"2024-02-01"}`, `{"t":"2024-02-01T00:00:00.0000001Z"}`, `{"s":"\ud800"}`,
		"{\"s\":\"\xff\"}", `{"i":1`, `{"i":1} {}`, `[1]`, `42`, `{"x":NaN}`, "{\"s\":\"\t\"}", `{"i":01}`,
	}
	source := good + "\n" + strings.Join(bad, "\n") + "\n" + good + "\n"
	got, err := venv.Source(t.Context(), columns, writeSource(t, "s.ndjson", source))
	if err != nil {
		t.Fatal(err)
	}
	if got.Rows != 2 || got.Bad != int64(len(bad)) {
		t.Errorf("%d good and %d bad, want 2 and %d: %s", got.Rows, got.Bad, len(bad), strings.Join(got.Faults, "\n"))
	}
}

func TestSourceLayouts(t *testing.T) {
	venv := Readers(t)
	columns := []format.Column{column(t, "a", "long")}
	arrays := []format.Column{column(t, "a", "long", format.Step{Index: 0})}
	for name, tc := range map[string]struct {
		columns []format.Column
		text    string
		rows    int64
	}{
		"lines":           {columns, "{\"a\":1}\n{\"a\":2}\n", 2},
		"byte order mark": {columns, "\ufeff{\"a\":1}\n{\"a\":2}", 2},
		"one array":       {columns, "[\n {\"a\":1},\n {\"a\":2}\n]\n", 2},
		"array in a line": {columns, `[{"a":1},{"a":2}]`, 2},
		"lines of arrays": {arrays, "[1]\n[2]\n", 2},
		"one object":      {columns, "{\n \"a\": 1\n}\n", 1},
		"nothing":         {columns, "", 0},
	} {
		got, err := venv.Source(t.Context(), tc.columns, writeSource(t, "s.json", tc.text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.Rows != tc.rows || got.Bad != 0 {
			t.Errorf("%s: %d rows and %d bad, want %d and none: %v", name, got.Rows, got.Bad, tc.rows, got.Faults)
		}
	}
}

func TestSourceTakesTheWholeRecordAsItsText(t *testing.T) {
	venv := Readers(t)
	whole := column(t, "raw", "string", format.Whole()...)
	got, err := venv.Source(t.Context(), []format.Column{whole}, writeSource(t, "s.ndjson", "{\"a\": 1.0}\n[ 2 ]\n"))
	if err != nil {
		t.Fatal(err)
	}
	arrowSchema, rec := recordOf(t, []format.Column{whole}, `[{"raw":"{\"a\": 1.0}"},{"raw":"[ 2 ]"}]`)
	if diff := cmp.Diff(contentOf(t, arrowSchema, rec), got.Content); diff != "" {
		t.Error(diff)
	}
}

func TestSourceRefusesMetadataColumns(t *testing.T) {
	if _, err := columnSpec([]format.Column{{Name: "o", Meta: "kafka.offset"}}); err == nil {
		t.Error("no error")
	}
}
