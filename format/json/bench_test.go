package json_test

import (
	"bytes"
	"testing"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/format/json"
	"github.com/sluicedata/sluice/source"
)

// BenchmarkDecode decodes the records of the benchmark event, 355 bytes each on average, over and over.
func BenchmarkDecode(b *testing.B) {
	data := shared(b, "data/events-1000.ndjson")
	block := &source.Block{File: &source.File{Path: "events"}}
	for i, line := range bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
		block.Values = append(block.Values, line)
		block.Positions = append(block.Positions, int64(i+1))
	}
	d, err := json.New(eventColumns(b), json.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Decode(block, refuse(b)); err != nil {
			b.Fatal(err)
		}
		if d.Rows() >= 64_000 {
			d.Flush().Release()
		}
	}
	b.ReportMetric(float64(b.N)*float64(len(block.Values))/b.Elapsed().Seconds(), "records/s")
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
				err := f.Frame(bytes.NewReader(file), func([][]byte, []int64, []source.Fault, int64) error { return nil })
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
