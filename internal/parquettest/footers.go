package parquettest

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// WithFooter is a file with another footer.
func WithFooter(tb testing.TB, file []byte, change func(*format.FileMetaData)) []byte {
	tb.Helper()
	open, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		tb.Fatal(err)
	}
	footer := open.Metadata()
	change(footer)
	return EndedBy(tb, file[:len(file)-8-int(binary.LittleEndian.Uint32(file[len(file)-8:]))], footer)
}

// WithColumnIndex is a file with another column index of a column in its first row group.
func WithColumnIndex(tb testing.TB, file []byte, column int, change func(*format.ColumnIndex)) []byte {
	tb.Helper()
	file = bytes.Clone(file)
	return WithFooter(tb, file, func(footer *format.FileMetaData) {
		c := &footer.RowGroups[0].Columns[column]
		var index format.ColumnIndex
		if err := thrift.Unmarshal(&thrift.CompactProtocol{}, file[c.ColumnIndexOffset:][:c.ColumnIndexLength], &index); err != nil {
			tb.Fatal(err)
		}
		change(&index)
		b := encoded(tb, &index)
		if len(b) > int(c.ColumnIndexLength) {
			tb.Fatalf("a column index of %d bytes where one of %d was", len(b), c.ColumnIndexLength)
		}
		copy(file[c.ColumnIndexOffset:], b)
		c.ColumnIndexLength = int32(len(b))
	})
}

// EndedBy is a file of what is in front of a footer, and that.
func EndedBy(tb testing.TB, front []byte, footer *format.FileMetaData) []byte {
	tb.Helper()
	b := encoded(tb, footer)
	return slices.Concat(front, b, binary.LittleEndian.AppendUint32(nil, uint32(len(b))), []byte("PAR1"))
}
