package table

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/sluicedata/sluice/schema"
)

// eventRecord has rows of the shape of the benchmark record: 11 columns, two of them nested.
func eventRecord(b testing.TB, rows int) (*schema.Type, arrow.Record) {
	s := parseSchema(b, "id:string,user_id:long,event_type:string,ts:timestamp,url:string,amount:double,device:struct<os:string,screen_w:int,app:string>,"+
		"tags:array<string>,note:string,score:int,mobile:boolean")
	r := rand.New(rand.NewPCG(1, 2))
	rb := array.NewRecordBuilder(memory.DefaultAllocator, s.ArrowSchema())
	text := func(i int, v string) { rb.Field(i).(*array.StringBuilder).Append(v) }
	for n := range rows {
		text(0, randomHex(r)+randomHex(r))
		rb.Field(1).(*array.Int64Builder).Append(r.Int64N(1e9))
		text(2, fmt.Sprint("type-", r.IntN(12)))
		rb.Field(3).(*array.TimestampBuilder).Append(arrow.Timestamp(1_700_000_000_000_000 + int64(n)*1000))
		text(4, "https://www.example.com/products/"+randomHex(r)+"/details?ref="+randomHex(r))
		rb.Field(5).(*array.Float64Builder).Append(r.Float64() * 100)
		d := rb.Field(6).(*array.StructBuilder)
		d.Append(true)
		d.FieldBuilder(0).(*array.StringBuilder).Append([]string{"ios", "android", "web"}[r.IntN(3)])
		d.FieldBuilder(1).(*array.Int32Builder).Append(int32(r.IntN(2000)))
		d.FieldBuilder(2).(*array.StringBuilder).Append("4.2.1")
		l := rb.Field(7).(*array.ListBuilder)
		l.Append(true)
		for range r.IntN(4) {
			l.ValueBuilder().(*array.StringBuilder).Append([]string{"new", "sale", "promo"}[r.IntN(3)])
		}
		if r.IntN(2) == 0 {
			rb.Field(8).AppendNull()
		} else {
			text(8, "a note of some words")
		}
		rb.Field(9).(*array.Int32Builder).Append(int32(r.IntN(100)))
		rb.Field(10).(*array.BooleanBuilder).Append(r.IntN(2) == 0)
	}
	return s, rb.NewRecord()
}

func BenchmarkAppend(b *testing.B) {
	const rows, records = 16_384, 16
	s, rec := eventRecord(b, rows)
	for b.Loop() {
		tbl := newTestTable(b, Options{})
		a, err := tbl.Begin(b.Context(), &Create{Schema: s})
		if err != nil {
			b.Fatal(err)
		}
		for range records {
			if err := a.Write(b.Context(), rec); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := a.Commit(b.Context(), Batch{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows*records*b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkScan(b *testing.B) {
	const rows = 100_000
	s, rec := eventRecord(b, rows)
	for _, encoding := range []string{"compatible", "compact"} {
		b.Run(encoding, func(b *testing.B) {
			tbl := newTestTable(b, Options{})
			appendAll(b, tbl, 0, &Create{Schema: s, Properties: map[string]string{encodingProperty: encoding}}, rec)
			snap, err := tbl.Snapshot(b.Context(), Newest)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				n := int64(0)
				err := snap.Scan(b.Context(), ScanOptions{}, func(r arrow.Record) error {
					n += r.NumRows()
					return nil
				})
				if err != nil || n != rows {
					b.Fatal(n, err)
				}
			}
			b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkRewrite rewrites small files of our own into one.
func BenchmarkRewrite(b *testing.B) {
	const rows, files = 2500, 100
	s, rec := eventRecord(b, rows)
	tbl := newTestTable(b, Options{})
	for batch := range int64(files) {
		appendAll(b, tbl, batch, &Create{Schema: s}, rec)
	}
	snap, err := tbl.Snapshot(b.Context(), Newest)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r := rewriteOf(b, snap, filesOf(b, snap))
		if err := r.writer.finish(b.Context()); err != nil {
			b.Fatal(err)
		}
		if err := r.Abort(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows*files*b.N)/b.Elapsed().Seconds(), "rows/s")
}
