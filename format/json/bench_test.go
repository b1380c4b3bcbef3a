package json_test

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/format/json"
	"github.com/sluicedata/sluice/internal/events"
	"github.com/sluicedata/sluice/source"
)

// BenchmarkDecode decodes blocks of one shape of record each, over and over, and flushes as often as a run does. CPU time stands
// beside the time by the clock, which says little on a machine that does other things as well.
func BenchmarkDecode(b *testing.B) {
	for _, s := range []struct {
		name    string
		columns []format.Column
		block   *source.Block
	}{
		{"events", eventColumns(b), eventBlock()},
		{"flat", columns(b, "id bigint", "name string", "price double", "at timestamp", "day date", "cents decimal(12,2)", "ok boolean"), repeat(1000, func(i int) string {
			return fmt.Sprintf(`{"id":%d,"name":"name %d","price":%d.%02d,"at":"2024-05-01T10:%02d:%02d.%03dZ","day":"2024-05-%02d","cents":%d.5,"ok":%t}`,
				i*7919, i%97, i%1000, i%100, i/60%60, i%60, i%1000, i%28+1, i, i%2 == 0)
		})},
		{"spaced", columns(b, "id bigint", "name string", "price double"), repeat(1000, func(i int) string {
			return fmt.Sprintf(`{"id": %d, "name": "name %d", "price": %d.%02d}`, i*7919, i%97, i%1000, i%100)
		})},
		{"nested", columns(b, "a struct<b:struct<c:struct<n:bigint,s:string>,l:array<struct<x:int,y:double>>>>", "m map<string,bigint>"), repeat(1000, func(i int) string {
			return fmt.Sprintf(`{"a":{"b":{"c":{"n":%d,"s":"s%d"},"l":[{"x":%d,"y":0.5},{"x":2,"y":1.25},{"y":7}]}},"m":{"one":1,"two":%d}}`, i, i%10, i, i)
		})},
		{"tiny", columns(b, "a int", "b int", "c int"), repeat(1000, func(i int) string {
			return fmt.Sprintf(`{"a":%d,"b":%d,"c":%d}`, i, i%7, i*1000)
		})},
		{"long", columns(b, "id bigint", "body string"), repeat(100, func(i int) string {
			return fmt.Sprintf(`{"id":%d,"body":"%s"}`, i, strings.Repeat("lorem ipsum dolor sit amet ", 380))
		})},
		{"wide", wideColumns(b), repeat(100, wideRecord)},
	} {
		b.Run(s.name, func(b *testing.B) { decodeBlocks(b, s.columns, s.block) })
	}
}

// eventBlock has records of the benchmark event, 355 bytes each on average.
func eventBlock() *source.Block {
	g := events.New(1)
	return repeat(1000, func(int) string { return strings.TrimSuffix(string(g.Append(nil)), "\n") })
}

func repeat(n int, record func(i int) string) *source.Block {
	records := make([]string, n)
	for i := range records {
		records[i] = record(i)
	}
	return lines(records...)
}

// lines are records as a file has them, one behind another.
func lines(records ...string) *source.Block {
	b := block(records...)
	memory := []byte(strings.Join(records, "\n") + "\n" + strings.Repeat("\x00", 32))
	at := 0
	for i, r := range records {
		b.Values[i] = memory[at : at+len(r)]
		at += len(r) + 1
	}
	return b
}

const wide = 200

func wideColumns(tb testing.TB) []format.Column {
	specs := make([]string, wide)
	for i := range specs {
		specs[i] = fmt.Sprintf("column_%03d %s", i, []string{"bigint", "string", "double", "boolean"}[i%4])
	}
	return columns(tb, specs...)
}

func wideRecord(i int) string {
	fields := make([]string, wide)
	for k := range fields {
		value := []any{i * k, fmt.Sprintf(`"v%d"`, k), 0.25 * float64(k), k%8 == 3}[k%4]
		fields[k] = fmt.Sprintf(`"column_%03d":%v`, k, value)
	}
	return "{" + strings.Join(fields, ",") + "}"
}

func decodeBlocks(b *testing.B, columns []format.Column, records *source.Block) {
	d, err := json.New(columns, json.Options{})
	if err != nil {
		b.Fatal(err)
	}
	begin(b, records)
	from := cpu(b)
	for b.Loop() {
		decodeAndFlush(b, d, records)
	}
	report(b, records, cpu(b)-from)
}

// decodeAndFlush decodes a block, and flushes when a run would.
func decodeAndFlush(b *testing.B, d *json.Decoder, records *source.Block) {
	const flushRows = 16_384
	if err := d.Decode(records, refuse(b)); err != nil {
		b.Fatal(err)
	}
	if d.Rows() >= flushRows {
		d.Flush().Release()
	}
}

type event struct {
	ID     string    `json:"id"`
	UserID int64     `json:"user_id"`
	Type   string    `json:"event_type"`
	TS     time.Time `json:"ts"`
	URL    string    `json:"url"`
	Amount *float64  `json:"amount"`
	Device *struct {
		OS      string `json:"os"`
		Version string `json:"version"`
		Width   int32  `json:"screen_w"`
	} `json:"device"`
	Tags     []string `json:"tags"`
	Referrer *string  `json:"referrer"`
	Seq      *int32   `json:"seq"`
	Mobile   bool     `json:"mobile"`
}

// BenchmarkEncodingJSON decodes the records of the benchmark event into a struct by the standard library, for comparison.
func BenchmarkEncodingJSON(b *testing.B) {
	records := eventBlock()
	begin(b, records)
	from := cpu(b)
	for b.Loop() {
		for _, record := range records.Values {
			var e event
			if err := stdjson.Unmarshal(record, &e); err != nil {
				b.Fatal(err)
			}
		}
	}
	report(b, records, cpu(b)-from)
}

// BenchmarkBesideFastJSON decodes the records of the benchmark event by turns here and with valyala/fastjson, the fastest of other
// decoders in Go, and reports how many times as much processor time that takes. It too puts values of the columns' types one behind
// another, and starts anew as often. Both have grown their buffers before.
func BenchmarkBesideFastJSON(b *testing.B) {
	const blocks = 16 // to a flush
	records := eventBlock()
	d, err := json.New(eventColumns(b), json.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var other fastEvents
	decodeOther := func() {
		if err := other.decode(records); err != nil {
			b.Fatal(err)
		}
		if len(other.user) >= blocks*len(records.Values) {
			other.reset()
		}
	}
	for range 2 * blocks {
		decodeAndFlush(b, d, records)
		decodeOther()
	}
	var ours, theirs time.Duration
	begin(b, records)
	for b.Loop() {
		from := cpu(b)
		decodeAndFlush(b, d, records)
		between := cpu(b)
		decodeOther()
		ours, theirs = ours+between-from, theirs+cpu(b)-between
	}
	b.ReportMetric(float64(theirs)/float64(ours), "times")
	report(b, records, ours)
}

func begin(b *testing.B, records *source.Block) {
	bytes := 0
	for _, v := range records.Values {
		bytes += len(v) + 1
	}
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
}

// report adds what a record takes of a processor's time.
func report(b *testing.B, records *source.Block, used time.Duration) {
	b.ReportMetric(float64(used.Nanoseconds())/float64(b.N)/float64(len(records.Values)), "cpu-ns/record")
}

// cpu is the processor time that the process has used.
func cpu(tb testing.TB) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func eventColumns(tb testing.TB) []format.Column {
	return columns(tb, "id string", "user_id bigint", "event_type string", "ts timestamp", "url string", "amount double",
		"device struct<os:string,version:string,screen_w:int>", "tags array<string>", "referrer string", "seq int", "mobile boolean")
}

// BenchmarkFrame cuts the same records, as lines and as the elements of an array.
func BenchmarkFrame(b *testing.B) {
	lines := shared(b, "data/events-1000.ndjson")
	elements := bytes.ReplaceAll(bytes.TrimSuffix(lines, []byte("\n")), []byte("\n"), []byte(",\n"))
	elements = append(append([]byte("[\n"), elements...), "\n]\n"...)
	for layout, file := range map[json.Layout][]byte{json.LayoutLines: lines, json.LayoutArray: elements} {
		b.Run(string(layout), func(b *testing.B) {
			f, err := json.NewFramer(json.FrameOptions{Layout: layout})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(file)))
			b.ReportAllocs()
			for b.Loop() {
				err := f.Frame(bytes.NewReader(file), func(*source.Block) error { return nil })
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkInfer learns columns from the same records.
func BenchmarkInfer(b *testing.B) {
	data := shared(b, "data/events-1000.ndjson")
	records := frameBlock(b, data)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := json.NewInferrer().Infer(records); err != nil {
			b.Fatal(err)
		}
	}
}
