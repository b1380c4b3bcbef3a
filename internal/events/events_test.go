package events

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/internal/interop"
	"github.com/sluicedata/sluice/internal/interop/rowhash"
	"github.com/sluicedata/sluice/schema"
)

func generate(seed uint64, records int) ([]byte, Summary) {
	g := New(seed)
	var buf []byte
	for range records {
		buf = g.Append(buf)
	}
	return buf, g.Summary()
}

// row is a record as encoding/json reads it.
type row struct {
	ID     string    `json:"id"`
	UserID int64     `json:"user_id"`
	Type   string    `json:"event_type"`
	TS     time.Time `json:"ts"`
	URL    string    `json:"url"`
	Amount *float64  `json:"amount"`
	Device struct {
		OS, Version string
		Width       int64 `json:"screen_w"`
	} `json:"device"`
	Tags     []string `json:"tags"`
	Referrer *string  `json:"referrer"`
	Seq      *int64   `json:"seq"`
	Mobile   bool     `json:"mobile"`
}

func decode(t *testing.T, ndjson []byte) []row {
	t.Helper()
	var rows []row
	dec := json.NewDecoder(bytes.NewReader(ndjson))
	dec.DisallowUnknownFields()
	for dec.More() {
		var r row
		if err := dec.Decode(&r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows
}

// columns are Columns as a table has them.
func columns(t *testing.T) []format.Column {
	t.Helper()
	typ, err := schema.ParseDDL("struct<" + Columns + ">")
	if err != nil {
		t.Fatal(err)
	}
	out := make([]format.Column, 0, len(typ.Fields))
	for _, f := range typ.Fields {
		out = append(out, format.Column{Name: f.Name, Type: f.Type, Nullable: true})
	}
	return out
}

func TestSameSeedSameBytesOnEveryMachine(t *testing.T) {
	a, sum := generate(1, 1000)
	b, _ := generate(1, 1000)
	c, _ := generate(2, 1000)
	if !bytes.Equal(a, b) || bytes.Equal(a, c) {
		t.Error("the bytes are not a function of the seed")
	}
	const first = `{"id":"ee4200f3-880a-49eb-baad-cc279ed76e43","user_id":1001803774,"event_type":"click",` +
		`"ts":"2024-05-01T10:40:00.177Z",` +
		`"url":"https://shop.example.com/help/article/67377/usb-c-hub?ref=us&s=383","amount":1730.43,` +
		`"device":{"os":"macos","version":"11.0.22631","screen_w":1366},"tags":["promo","eu"],` +
		`"referrer":"https://www.google.com/","seq":78956,"mobile":false}`
	if got, _, _ := strings.Cut(string(a), "\n"); got != first {
		t.Errorf("first record %s", got)
	}
	if sum.Hash != goldenHash {
		t.Errorf("hash %s, want %s", sum.Hash, goldenHash)
	}
}

// goldenHash is that of the first 1,000 records of seed 1.
const goldenHash = "917aadda3b492de85104654fb1c05df1"

func TestSummaryIsThatOfTheDecodedRecords(t *testing.T) {
	const records = 5_000
	g := New(3)
	g.Step = 40 * time.Second // over three days
	var ndjson []byte
	for range records {
		ndjson = g.Append(ndjson)
	}
	got := g.Summary()
	want := Summary{Bytes: int64(len(ndjson)), Hash: hashByArrow(t, ndjson), Days: map[string]int64{}}
	for _, r := range decode(t, ndjson) {
		want.Records++
		want.UserIDSum += r.UserID
		want.Days[r.TS.Format(time.DateOnly)]++
		if want.MinTS.IsZero() || r.TS.Before(want.MinTS) {
			want.MinTS = r.TS
		}
		if r.TS.After(want.MaxTS) {
			want.MaxTS = r.TS
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(got.Days) != 3 {
		t.Errorf("%d days", len(got.Days))
	}
}

// hashByArrow hashes what Arrow's own JSON reader makes of the records.
func hashByArrow(t *testing.T, ndjson []byte) string {
	t.Helper()
	fields := schema.Type{Kind: schema.Struct}
	for _, c := range columns(t) {
		fields.Fields = append(fields.Fields, schema.Field{Name: c.Name, Type: c.Type, Nullable: true})
	}
	list := "[" + strings.ReplaceAll(strings.TrimSuffix(string(ndjson), "\n"), "\n", ",") + "]"
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, fields.ArrowSchema(), strings.NewReader(list), array.WithUseNumber())
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Release()
	var sum rowhash.Sum
	if err := sum.Record(rec, ColumnNames()...); err != nil {
		t.Fatal(err)
	}
	return sum.Hash()
}

func TestRecordsAreDistributedAsDescribed(t *testing.T) {
	const records = 20_000
	ndjson, _ := generate(4, records)
	share := map[string]float64{"bytes": float64(len(ndjson))}
	for _, r := range decode(t, ndjson) {
		count := func(name string, is bool) {
			if is {
				share[name]++
			}
		}
		count("page_view", r.Type == "page_view")
		count("no amount", r.Amount == nil)
		count("no referrer", r.Referrer == nil)
		count("escaped referrer", r.Referrer != nil && strings.Contains(*r.Referrer, `"`))
		count("no seq", r.Seq == nil)
		count("mobile", r.Mobile)
		count("no tags", len(r.Tags) == 0)
		share["tags"] += float64(len(r.Tags))
		if r.UserID < 1_000_000_000 || r.UserID >= 1_002_000_000 {
			t.Fatalf("user %d", r.UserID)
		}
	}
	for name, want := range map[string][2]float64{
		"bytes": {350, 360}, "page_view": {0.27, 0.31}, "no amount": {0.29, 0.31}, "no referrer": {0.29, 0.31},
		"escaped referrer": {0.017, 0.023}, "no seq": {0.19, 0.21}, "mobile": {0.39, 0.41}, "no tags": {0.24, 0.26},
		"tags": {1.47, 1.53},
	} {
		if got := share[name] / records; got < want[0] || got > want[1] {
			t.Errorf("%s: %.4f a record, want %v", name, got, want)
		}
	}
}

func TestRecordHasTheShapeOfTheReferenceFile(t *testing.T) {
	reference, err := os.ReadFile(interop.Shared(t, "data/events-1000.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	ours, _ := generate(5, 1000)
	shapes := func(ndjson []byte) []string {
		seen := map[string]bool{}
		for line := range bytes.Lines(ndjson) {
			seen[shape(line)] = true
		}
		return slices.Sorted(maps.Keys(seen))
	}
	if diff := cmp.Diff(shapes(reference), shapes(ours)); diff != "" {
		t.Error(diff)
	}
}

// shape is a record's text with its values replaced by their kinds.
func shape(line []byte) string {
	s := regexp.MustCompile(`"(\\.|[^"\\])*":?`).ReplaceAllStringFunc(string(line), func(token string) string {
		if strings.HasSuffix(token, ":") {
			return token
		}
		return "text"
	})
	s = regexp.MustCompile(`\[(text(,text)*)?\]`).ReplaceAllString(s, "texts")
	s = regexp.MustCompile(`:(true|false)`).ReplaceAllString(s, ":boolean")
	return regexp.MustCompile(`:[-.0-9]+`).ReplaceAllString(s, ":number")
}

func TestIndependentReadingFindsTheSummary(t *testing.T) {
	venv := interop.Readers(t)
	dir := t.TempDir()
	g := New(6)
	if err := WriteFiles(t.Context(), g, dir, Landing{Records: 3000, Files: 2, Gzip: true, BadEvery: 7}); err != nil {
		t.Fatal(err)
	}
	got, err := venv.Source(t.Context(), columns(t), dir+"/events-00000.ndjson.gz", dir+"/events-00001.ndjson.gz")
	if err != nil {
		t.Fatal(err)
	}
	want := g.Summary()
	if got.Rows != want.Records || got.Hash != want.Hash || got.Bad != want.Bad || want.Bad != 3000/7 {
		t.Errorf("%d rows %s and %d bad, want %d %s and %d: %v", got.Rows, got.Hash, got.Bad,
			want.Records, want.Hash, want.Bad, got.Faults[:min(5, len(got.Faults))])
	}
}

func BenchmarkAppend(b *testing.B) {
	g := New(1)
	var buf []byte
	for b.Loop() {
		buf = g.Append(buf[:0])
	}
	b.SetBytes(int64(len(buf)))
}
