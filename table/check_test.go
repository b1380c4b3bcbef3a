package table

import (
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// TestTextsThatAreNotUTF8AreFaults has such a text alone, in a list, in a map and in a struct.
func TestTextsThatAreNotUTF8AreFaults(t *testing.T) {
	const invalid = "dam\xffge"
	s := parseSchema(t, "alone:string,list:array<string>,key:map<string,int>,value:map<int,string>,inner:struct<list:array<struct<text:string>>>,whole:string,bytes:binary")
	b := array.NewRecordBuilder(memory.DefaultAllocator, s.ArrowSchema())
	b.Field(0).(*array.StringBuilder).Append(invalid)
	list := b.Field(1).(*array.ListBuilder)
	list.Append(true)
	list.ValueBuilder().(*array.StringBuilder).AppendValues([]string{"whole", invalid}, nil)
	for _, column := range []int{2, 3} {
		b.Field(column).(*array.MapBuilder).Append(true)
	}
	key, value := b.Field(2).(*array.MapBuilder), b.Field(3).(*array.MapBuilder)
	key.KeyBuilder().(*array.StringBuilder).Append(invalid)
	key.ItemBuilder().AppendNull()
	value.KeyBuilder().(*array.Int32Builder).Append(1)
	value.ItemBuilder().(*array.StringBuilder).Append(invalid)
	inner := b.Field(4).(*array.StructBuilder)
	inner.Append(true)
	items := inner.FieldBuilder(0).(*array.ListBuilder)
	items.Append(true)
	item := items.ValueBuilder().(*array.StructBuilder)
	item.Append(true)
	item.FieldBuilder(0).(*array.StringBuilder).Append(invalid)
	b.Field(5).(*array.StringBuilder).Append("größer")
	b.Field(6).(*array.BinaryBuilder).Append([]byte(invalid))

	tbl := newTestTable(t, Options{})
	appendAll(t, tbl, 0, &Create{Schema: s}, b.NewRecord())
	snapshot, err := tbl.Snapshot(t.Context(), Newest)
	if err != nil {
		t.Fatal(err)
	}
	faults, err := snapshot.Check(t.Context(), &filesOf(t, snapshot)[0], true)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, fault := range faults {
		if name, found := strings.CutSuffix(fault.Error(), ` has the text "dam\xffge", which is not UTF-8`); found {
			got = append(got, strings.TrimPrefix(name, "column "))
		}
	}
	if text := strings.Join(got, " "); text != "alone inner key list value" {
		t.Errorf("texts of %s are not UTF-8: %v", text, faults)
	}
}
