package table

import (
	"bytes"
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/format/json"
	"github.com/sluicedata/sluice/internal/events"
	"github.com/sluicedata/sluice/schema"
	input "github.com/sluicedata/sluice/source"
)

// BenchmarkEncode encodes the benchmark record from Arrow columns, as the decoder makes them, into a file that is thrown away: all columns
// and each by itself, in both encodings and some codecs. Beside the time by the clock are CPU time and what a row takes in the file.
func BenchmarkEncode(b *testing.B) {
	records, all := decodedEvents(b, 16*8192)
	for _, encoding := range []string{"compatible", "compact"} {
		for _, codec := range []string{"uncompressed", "snappy", "zstd"} {
			properties := map[string]string{encodingProperty: encoding, codecProperty: codec}
			b.Run(encoding+"/"+codec+"/all", func(b *testing.B) { encodeAgain(b, all, properties, records) })
			for _, f := range all.Fields {
				one := &schema.Type{Kind: schema.Struct, Fields: []schema.Field{f}}
				b.Run(encoding+"/"+codec+"/"+f.Name, func(b *testing.B) { encodeAgain(b, one, properties, records) })
			}
		}
	}
}

func encodeAgain(b *testing.B, t *schema.Type, properties map[string]string, records []arrow.Record) {
	l, err := newLayout(t, properties, engineName, newZstd())
	if err != nil {
		b.Fatal(err)
	}
	e := newEncoder(l, l.pageBytes, &workspace{})
	rows, size := int64(0), int64(0)
	var bound [][]*bound
	for _, rec := range records {
		columns, err := bind(l.columns, rec)
		if err != nil {
			b.Fatal(err)
		}
		bound = append(bound, columns)
		rows += rec.NumRows()
	}
	before := processorTime(b)
	for b.Loop() {
		if err := e.begin(io.Discard); err != nil {
			b.Fatal(err)
		}
		for i, rec := range records {
			if err := e.write(bound[i], allRows(int(rec.NumRows())), recordBytes(rec)/rec.NumRows()); err != nil {
				b.Fatal(err)
			}
		}
		if size, err = e.end(); err != nil {
			b.Fatal(err)
		}
	}
	taken := processorTime(b) - before
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(taken.Nanoseconds())/float64(rows*int64(b.N)), "cpu-ns/row")
	b.ReportMetric(float64(size)/float64(rows), "B/row")
}

func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// decodedEvents are benchmark records as a run hands them to a table.
func decodedEvents(b *testing.B, rows int) ([]arrow.Record, *schema.Type) {
	all := parseSchema(b, events.Columns)
	var columns []format.Column
	for _, f := range all.Fields {
		columns = append(columns, format.Column{Name: f.Name, Type: f.Type, Nullable: f.Nullable})
	}
	decoder, err := json.New(columns, json.Options{})
	if err != nil {
		b.Fatal(err)
	}
	g := events.New(1)
	var records []arrow.Record
	for len(records)*8192 < rows {
		var body []byte
		for range 8192 {
			body = g.Append(body)
		}
		block := &input.Block{Partition: "p"}
		for i, line := range bytes.Split(bytes.TrimSuffix(body, []byte("\n")), []byte("\n")) {
			block.Values, block.Positions = append(block.Values, line), append(block.Positions, int64(i))
		}
		if err := decoder.Decode(block, func(bad format.Bad) error { b.Fatal(bad.Reason); return nil }); err != nil {
			b.Fatal(err)
		}
		records = append(records, decoder.Flush())
	}
	return records, all
}
