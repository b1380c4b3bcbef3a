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
