package table

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/sluicedata/sluice/schema"
)

func longText(i, length int) string { return fmt.Sprintf("%03d %s", i, strings.Repeat("é", length/2)) }

// longRecord has rows of one long text and one long binary each.
func longRecord(s *schema.Type, from, rows, length int) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, s.ArrowSchema())
	for i := from; i < from+rows; i++ {
		text := longText(i, length)
		b.Field(0).(*array.StringBuilder).Append(text)
		b.Field(1).(*array.BinaryBuilder).Append([]byte(text))
	}
	return b.NewRecord()
}

func TestLongValuesAreStoredOnceAndAreNoBoundsInAFile(t *testing.T) {
	s := schema.StructOf(
		schema.Field{Name: "text", Type: schema.Of(schema.String), Nullable: true},
		schema.Field{Name: "bytes", Type: schema.Of(schema.Binary), Nullable: true},
	)
	const rows, length = 20, 200_000
	tbl := newTestTable(t, Options{})
	create := &Create{Schema: s, Properties: map[string]string{codecProperty: "uncompressed"}}
	first, second := longRecord(s, 0, rows, length), longRecord(s, rows, rows, length)
	appendAll(t, tbl, 0, create, first)
	store := tbl.store.(*memStore)
	done := appendAll(t, tbl, 1, create, second)
	if diff := cmp.Diff(append(rowTexts(first), rowTexts(second)...), scanRows(t, tbl, ScanOptions{})); diff != "" {
		t.Error("rows differ")
	}
	if raw := int64(2 * rows * length); done.Bytes > raw+raw/100 {
		t.Errorf("files of %d bytes for %d bytes of values", done.Bytes, raw)
	}
	for _, key := range store.dataKeys() {
		f, err := parquet.OpenFile(bytes.NewReader(store.objects[key]), int64(len(store.objects[key])))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range f.Metadata().RowGroups[0].Columns {
			low, high := string(c.MetaData.Statistics.MinValue), string(c.MetaData.Statistics.MaxValue)
			if low > longText(rows, length) || high < longText(rows-1, length) || len(low) > 200 || len(high) > 200 {
				t.Errorf("bounds %q (%d bytes) and %q (%d bytes)", low, len(low), high, len(high))
			}
		}
	}
}

func TestBoundsOfLongValuesHoldThem(t *testing.T) {
	for _, v := range []string{
		"", "short", strings.Repeat("a", 1000), strings.Repeat("é", 1000), strings.Repeat("😀", 1000), strings.Repeat("\x7f", 40) + "a",
		strings.Repeat("\U0010ffff", 1000), strings.Repeat("\xff", 1000), strings.Repeat("\xff", 3) + strings.Repeat("\xfe\x00", 1000), strings.Repeat("\x80", 1000),
	} {
		for _, isText := range []bool{true, false} {
			low, high := lowerBound([]byte(v), isText), upperBound([]byte(v), isText)
			if string(low) > v || high != nil && string(high) < v || len(low) > 300 || len(high) > 300 {
				t.Errorf("bounds of %.20q (%d bytes): %q, %.40q", v, len(v), low, high)
			}
		}
	}
}
