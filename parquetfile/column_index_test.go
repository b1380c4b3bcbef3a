package parquetfile

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// FuzzColumnIndex holds column indexes against parquet-go's reading, where that reads them at all, but for truths: it takes a 2 for true.
func FuzzColumnIndex(f *testing.F) {
	for _, x := range []format.ColumnIndex{
		{NullPages: thrift.Slice[bool]{false, true}, MinValues: thrift.Slice[[]byte]{[]byte("a"), {}}, MaxValues: thrift.Slice[[]byte]{[]byte("z"), {}}, NullCounts: thrift.Slice[int64]{3, 90}},
		{NullPages: thrift.Slice[bool]{false}, MinValues: thrift.Slice[[]byte]{{1, 0, 0, 0}}, MaxValues: thrift.Slice[[]byte]{{2, 0, 0, 0}}, DefinitionLevelHistogram: thrift.Slice[int64]{1, 2}},
	} {
		b, err := thrift.Marshal(&thrift.CompactProtocol{}, &x)
		if err != nil {
			f.Fatal(err)
		}
		if got, ok := readColumnIndex(b); !ok || len(got.NullPages) != len(x.NullPages) {
			f.Fatalf("%x: %+v, %t", b, got, ok)
		}
		if _, ok := readColumnIndex(b[:len(b)-1]); ok {
			f.Errorf("%x is read without its end", b)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, ok := readColumnIndex(b)
		if !ok {
			return
		}
		var want format.ColumnIndex
		if _, err := oracle(b, &want); err != nil {
			return
		}
		if len(got.NullPages) != len(want.NullPages) {
			t.Fatalf("%x: %d pages, want %d", b, len(got.NullPages), len(want.NullPages))
		}
		known := format.ColumnIndex{NullPages: got.NullPages, MinValues: want.MinValues, MaxValues: want.MaxValues, NullCounts: want.NullCounts}
		if diff := cmp.Diff(&known, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%x: %s", b, diff)
		}
	})
}

func TestColumnIndexesThatAreNoneAreDamage(t *testing.T) {
	for name, b := range map[string][]byte{
		"nothing":                    {},
		"more pages than bytes":      {0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x07},
		"a bound too few":            {0x19, 0x21, 2, 2, 0x19, 0x28, 1, 'a', 1, 'b', 0x19, 0x18, 1, 'a', 0},
		"a bound that ends too late": {0x19, 0x11, 2, 0x19, 0x18, 9, 'a', 0x19, 0x18, 1, 'a', 0},
	} {
		if x, ok := readColumnIndex(b); ok {
			t.Errorf("%s: %+v", name, x)
		}
	}
	if x, ok := readColumnIndex([]byte("\x19\x31\x01\x02\x00" + "\x19\x38\x00\x00\x00" + "\x19\x38\x00\x00\x00" + "\x00")); !ok || !slices.Equal(x.NullPages, []bool{true, false, false}) {
		t.Errorf("truths in a list: %+v, %t", x, ok)
	}
	file := fileOf(t, rowsOf(20), 1, &parquet.Snappy)
	open, err := Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if x, err := open.ColumnIndex(0, 0); err != nil || x == nil || len(x.NullPages) == 0 {
		t.Fatalf("%+v, %v", x, err)
	}
	c := &open.Metadata().RowGroups[0].Columns[0]
	c.ColumnIndexOffset = int64(len(file))
	if _, err := open.ColumnIndex(0, 0); !errors.Is(err, ErrDamaged) {
		t.Errorf("an index behind the end: %v", err)
	}
	c.ColumnIndexOffset = 0
	if x, err := open.ColumnIndex(0, 0); x != nil || err != nil {
		t.Errorf("no index: %+v, %v", x, err)
	}
}
