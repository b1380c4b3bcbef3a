// Package parquettest changes Parquet files as tests want them.
package parquettest

import (
	"bytes"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// WithoutChecksums is a file whose pages tell none, so that damage has to be noticed in what they hold. It has no Bloom filters, and no indexes of pages.
func WithoutChecksums(tb testing.TB, file []byte) []byte {
	tb.Helper()
	open, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		tb.Fatal(err)
	}
	footer := open.Metadata()
	out := []byte("PAR1")
	for _, group := range footer.RowGroups {
		for i := range group.Columns {
			c := &group.Columns[i]
			start := c.MetaData.DataPageOffset
			if at := c.MetaData.DictionaryPageOffset; at > 0 {
				start = min(start, at)
			}
			pages := file[start:][:c.MetaData.TotalCompressedSize]
			*c = format.ColumnChunk{MetaData: c.MetaData}
			c.MetaData.BloomFilterOffset, c.MetaData.BloomFilterLength = 0, 0
			out = appendPages(tb, out, &c.MetaData, pages)
		}
	}
	return EndedBy(tb, out, footer)
}

func appendPages(tb testing.TB, out []byte, m *format.ColumnMetaData, pages []byte) []byte {
	tb.Helper()
	start, first := len(out), true // no data page has come
	for len(pages) > 0 {
		r := (&thrift.CompactProtocol{}).NewReaderFromBytes(pages)
		var header format.PageHeader
		if err := thrift.NewDecoder(r).Decode(&header); err != nil {
			tb.Fatal(err)
		}
		switch {
		case header.Type == format.DictionaryPage:
			m.DictionaryPageOffset = int64(len(out))
		case first:
			m.DataPageOffset, first = int64(len(out)), false
		}
		header.CRC = 0
		body := pages[r.BytesRead():][:header.CompressedPageSize]
		pages = pages[r.BytesRead()+len(body):]
		out = append(append(out, encoded(tb, &header)...), body...)
	}
	m.TotalCompressedSize = int64(len(out) - start)
	return out
}

func encoded(tb testing.TB, v any) []byte {
	tb.Helper()
	b, err := thrift.Marshal(&thrift.CompactProtocol{}, v)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}
