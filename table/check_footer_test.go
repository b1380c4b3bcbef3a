package table

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/sluicedata/sluice/internal/parquettest"
)

// TestFootersThatLieAreFaults changes what the footer of a good file with two pages a column says of its values.
func TestFootersThatLieAreFaults(t *testing.T) {
	const n, text, amount, sometimes, item = 0, 1, 2, 3, 4 // columns
	s := parseSchema(t, "n:long,t:string,d:decimal(20,2),o:int,l:array<int>")
	rows := func(from, before int) arrow.Record {
		b := array.NewRecordBuilder(memory.DefaultAllocator, s.ArrowSchema())
		for i := from; i < before; i++ {
			b.Field(0).(*array.Int64Builder).Append(int64(i))
			b.Field(1).(*array.StringBuilder).Append(fmt.Sprintf("%05d", i))
			b.Field(2).(*array.Decimal128Builder).Append(decimal128.FromI64(int64(i - 100)))
			if i%2 == 0 {
				b.Field(3).AppendNull()
			} else {
				b.Field(3).(*array.Int32Builder).Append(int32(i % 7))
			}
			b.Field(4).(*array.ListBuilder).Append(true)
			b.Field(4).(*array.ListBuilder).ValueBuilder().(*array.Int32Builder).Append(int32(i))
		}
		return b.NewRecord()
	}
	store := newMemStore()
	tbl := New(store, Options{AppID: "test"})
	appendAll(t, tbl, 0, &Create{Schema: s}, rows(0, pageRows), rows(pageRows, pageRows+5000))
	snapshot, err := tbl.Snapshot(t.Context(), Newest)
	if err != nil {
		t.Fatal(err)
	}
	key := store.dataKeys()[0]
	good := store.objects[key]

	long := func(v int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(v)) }
	statistics := func(column int, change func(*format.Statistics)) []byte {
		return parquettest.WithFooter(t, good, func(m *format.FileMetaData) { change(&m.RowGroups[0].Columns[column].MetaData.Statistics) })
	}
	index := func(column int, change func(*format.ColumnIndex)) []byte {
		return parquettest.WithColumnIndex(t, good, column, change)
	}
	for name, c := range map[string]struct {
		file []byte
		want []string
	}{
		"none": {good, nil},
		"the least of a row group": {
			statistics(n, func(s *format.Statistics) { s.MinValue = long(1) }),
			[]string{"column n, row group 0 has 0, below the least value by the file's footer, 1"},
		},
		"the greatest of a row group": {
			statistics(text, func(s *format.Statistics) { s.MaxValue = []byte("24998") }),
			[]string{"column t, row group 0 has 24999, above the greatest value by the file's footer, 24998"},
		},
		"the least decimal, which is negative": {
			statistics(amount, func(s *format.Statistics) { s.MinValue[len(s.MinValue)-1]++ }),
			[]string{"column d, row group 0 has -1.00, below the least value by the file's footer, -0.99"},
		},
		"an item of a list": {
			statistics(item, func(s *format.Statistics) { s.MaxValue = []byte{1, 0, 0, 0} }),
			[]string{"column l.list.element, row group 0 has 24999, above the greatest value by the file's footer, 1"},
		},
		"nulls of a row group": {
			statistics(sometimes, func(s *format.Statistics) { s.NullCount = 7 }),
			[]string{"column o, row group 0 has 12500 nulls, by the file's footer 7"},
		},
		"a bound that is no bound": {
			statistics(n, func(s *format.Statistics) { s.MinValue = []byte{1, 2, 3} }),
			[]string{"it cannot be read: read " + key + ", row group 0: column n: a bound of 3 bytes is none of type INT64"},
		},
		"bounds in an order that nobody knows": {
			parquettest.WithFooter(t, good, func(m *format.FileMetaData) {
				m.ColumnOrders = nil
				m.RowGroups[0].Columns[n].MetaData.Statistics.MinValue = long(1)
			}), nil,
		},
		"the least of a page": {
			index(n, func(x *format.ColumnIndex) { x.MinValues[1] = long(20001) }),
			[]string{"column n, row group 0, page 1 has 20000, below the least value by the column index, 20001"},
		},
		"the greatest of a page": {
			index(n, func(x *format.ColumnIndex) { x.MaxValues[0] = long(19998) }),
			[]string{"column n, row group 0, page 0 has 19999, above the greatest value by the column index, 19998"},
		},
		"a page of nulls": {
			index(n, func(x *format.ColumnIndex) { x.NullPages[1], x.MinValues[1], x.MaxValues[1] = true, nil, nil }),
			[]string{"column n, row group 0, page 1 has values, by the column index only nulls"},
		},
		"nulls of a page": {
			index(sometimes, func(x *format.ColumnIndex) { x.NullCounts[1]-- }),
			[]string{"column o, row group 0, page 1 has 2500 nulls, by the column index 2499"},
		},
		"a page that is not told": {
			index(n, func(x *format.ColumnIndex) {
				x.NullPages, x.MinValues, x.MaxValues, x.NullCounts = thrift.Slice[bool]{false}, x.MinValues[:1], x.MaxValues[:1], x.NullCounts[:1]
			}),
			[]string{"column n, row group 0 has 2 pages, its column index 1"},
		},
		"pages with a bound too few": {
			index(n, func(x *format.ColumnIndex) { x.MaxValues = x.MaxValues[:1] }),
			[]string{"it cannot be read: read " + key + ", row group 0: column n: its column index: the Parquet file is damaged; restore it from a copy"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			store.objects[key] = c.file
			file := filesOf(t, snapshot)[0]
			file.Size = int64(len(c.file))
			faults, err := snapshot.Check(t.Context(), &file, true)
			var got []string
			for _, fault := range faults {
				got = append(got, fault.Error())
			}
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q; %v", got, c.want, err)
			}
		})
	}
}
