package pipeline

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sluicedata/sluice/table"
)

const document = "../docs/pipeline.md"

func readDocument(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// documentedDefaults returns the default column of the document's key tables, by key.
func documentedDefaults(t *testing.T) map[string]string {
	t.Helper()
	row := regexp.MustCompile("(?m)^\\| `([a-z_.\\[\\]]+)` \\|[^|\n]*\\| *([^|\n]*?) *\\|[^|\n]*\\|[^|\n]*\\|$")
	out := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(readDocument(t), -1) {
		if _, ok := out[m[1]]; ok {
			t.Errorf("%s is documented twice", m[1])
		}
		out[m[1]] = strings.Trim(m[2], "`")
	}
	return out
}

func TestEveryKeyIsDocumentedAndNoOther(t *testing.T) {
	documented := documentedDefaults(t)
	for _, s := range sections() {
		for _, key := range s.keys {
			path := join(s.name, key)
			if _, ok := documented[path]; !ok {
				t.Errorf("%s is not in a table of %s", path, document)
			}
			delete(documented, path)
		}
	}
	for path := range documented {
		t.Errorf("%s is documented and is not a key", path)
	}
}

func TestDocumentedDefaultsAreTheFilesDefaults(t *testing.T) {
	documented := documentedDefaults(t)
	files := mustParse(t, base)
	keeps := mustParse(t, base+"maintenance: {compact: auto, vacuum: auto}\n").Maintenance
	kafka := mustParse(t, "name: x\nsource: {kafka: {brokers: ['a:1'], topics: [t]}}\ntable: {path: lake/t}\n").Source.Kafka
	for path, want := range map[string]string{
		"trigger":                       files.Trigger.String(),
		"on_error":                      string(files.OnError.Policy),
		"on_error.policy":               string(files.OnError.Policy),
		"source.format":                 files.Source.Format.Name,
		"source.files.settle":           files.Source.Files.Settle.String(),
		"source.files.overwritten":      string(files.Source.Files.Overwritten),
		"source.files.order":            string(files.Source.Files.Order),
		"source.kafka.start":            string(kafka.Start.Kind),
		"source.kafka.isolation":        string(kafka.Isolation),
		"source.kafka.on_data_loss":     string(kafka.OnDataLoss),
		"source.kafka.client_id":        strings.TrimSuffix(kafka.ClientID, "x") + "<name>",
		"source.kafka.group":            strings.TrimSuffix(kafka.Group, "x") + "<name>",
		"source.format.json.layout":     string(files.Source.Format.JSON.Layout),
		"source.format.json.tombstones": string(files.Source.Format.JSON.Tombstones),
		"batch.max_records":             strconv.FormatInt(files.Batch.MaxRecords, 10),
		"batch.max_files":               strconv.FormatInt(files.Batch.MaxFiles, 10),
		"batch.min_records":             strconv.FormatInt(files.Batch.MinRecords, 10),
		"batch.max_delay":               files.Batch.MaxDelay.String(),
		"maintenance.checkpoint":        string(files.Maintenance.Checkpoint),
		"maintenance.compact.min_files": strconv.FormatInt(keeps.Compact.MinFiles, 10),
		"checkpoint":                    strings.NewReplacer("dir/lake/t", "<table>", "/x", "/<name>").Replace(files.Checkpoint),
	} {
		if documented[path] != want {
			t.Errorf("default of %s is documented as %q and is %q", path, documented[path], want)
		}
	}
	for path, want := range map[string]int64{
		"batch.max_bytes": files.Batch.MaxBytes, "memory": files.Memory, "source.format.json.max_record_bytes": files.Source.Format.JSON.MaxRecordBytes,
	} {
		if got, err := ParseSize(documented[path]); err != nil || got != want {
			t.Errorf("default of %s is documented as %q and is %d bytes", path, documented[path], want)
		}
	}
}

// TestDocumentedExamplesLoad completes each example with the required keys that it leaves out.
func TestDocumentedExamplesLoad(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(readDocument(t), -1)
	if len(blocks) == 0 {
		t.Fatal("no examples")
	}
	for _, block := range blocks {
		text := block[1]
		for _, line := range strings.SplitAfter(strings.TrimSuffix(base, "\n"), "\n") {
			key, _, _ := strings.Cut(line, ":")
			if !strings.HasPrefix(text, key+":") && !strings.Contains(text, "\n"+key+":") {
				text = strings.TrimSuffix(line, "\n") + "\n" + text
			}
		}
		mustParse(t, text)
	}
}

func TestKnownPropertiesAndMetadataAreDocumented(t *testing.T) {
	text := readDocument(t)
	for _, p := range table.Properties() {
		if !strings.Contains(text, "`"+p.Name+"`") {
			t.Errorf("property %s is not documented", p.Name)
		}
		if _, err := Parse("p.yaml", []byte("name: x\nsource: {files: {path: landing}}\ntable: {path: lake/t, properties: {"+
			p.Name+": '"+p.Example+"'}}\n"), nil); err != nil {
			t.Errorf("the example of property %s is refused: %v", p.Name, err)
		}
	}
	for _, m := range metadataColumns() {
		if row := "| `" + m.name + "` | `" + strings.Join(m.types, "` or `") + "` |"; !strings.Contains(text, row) {
			t.Errorf("no row %s", row)
		}
	}
}
