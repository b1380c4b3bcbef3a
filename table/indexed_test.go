package table

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/internal/seqtest"
	"github.com/sluicedata/sluice/schema"
)

// indexedRecord is the same record with the strings and binaries of all depths in dictionaries, which hold more than is referred to.
func indexedRecord(r *rand.Rand, rec arrow.Record) arrow.Record {
	fields := rec.Schema().Fields()
	columns := make([]arrow.Array, len(fields))
	for i, c := range rec.Columns() {
		columns[i] = indexedArray(r, c)
		fields[i].Type = columns[i].DataType()
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, rec.NumRows())
}

func indexedArray(r *rand.Rand, a arrow.Array) arrow.Array {
	switch a := a.(type) {
	case *array.String:
		return indexedTexts(r, a, a.Value, array.NewStringBuilder(memory.DefaultAllocator))
	case *array.Binary:
		return indexedTexts(r, a, func(i int) string { return string(a.Value(i)) }, array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.Binary))
	case array.ListLike, *array.Struct:
		return indexedNest(r, a)
	default:
		return a
	}
}

func indexedTexts[B interface {
	array.Builder
	AppendString(string)
}](r *rand.Rand, a arrow.Array, value func(int) string, b B,
) arrow.Array {
	numbers := map[string]int32{}
	var texts []string
	for i := range a.Len() {
		text := value(i)
		if _, ok := numbers[text]; !ok && a.IsValid(i) {
			numbers[text] = 0
			texts = append(texts, text)
		}
	}
	for i := range r.IntN(5) {
		texts = append(texts, fmt.Sprint("\x00nobody's ", i), fmt.Sprint("\U0010ffffnobody's ", i))
	}
	r.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	for i, text := range texts {
		numbers[text] = int32(i)
		b.AppendString(text)
	}
	indices := array.NewInt32Builder(memory.DefaultAllocator)
	for i := range a.Len() {
		if a.IsNull(i) {
			indices.AppendNull()
			continue
		}
		indices.Append(numbers[value(i)])
	}
	return array.NewDictionaryArray(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: a.DataType()}, indices.NewArray(), b.NewArray())
}

// indexedNest changes what is inside an array.
func indexedNest(r *rand.Rand, a arrow.Array) arrow.Array {
	var children []arrow.ArrayData
	var types []arrow.DataType
	for _, c := range a.Data().Children() {
		child := indexedArray(r, array.MakeFromData(c))
		children, types = append(children, child.Data()), append(types, child.DataType())
	}
	var t arrow.DataType
	switch old := a.DataType().(type) {
	case *arrow.StructType:
		fields := old.Fields()
		for i := range fields {
			fields[i].Type = types[i]
		}
		t = arrow.StructOf(fields...)
	case *arrow.MapType:
		entries := types[0].(*arrow.StructType)
		m := arrow.MapOf(entries.Field(0).Type, entries.Field(1).Type)
		m.SetItemNullable(old.ItemField().Nullable)
		t = m
	case *arrow.ListType:
		field := old.ElemField()
		field.Type = types[0]
		t = arrow.ListOfField(field)
	}
	return array.MakeFromData(array.NewData(t, a.Len(), a.Data().Buffers(), children, a.NullN(), a.Data().Offset()))
}

// wordsRecord has rows of a string that has so many different values, and is null now and then.
func wordsRecord(r *rand.Rand, s *schema.Type, rows, different int) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, s.ArrowSchema())
	for range rows {
		if r.IntN(10) == 0 {
			b.Field(0).AppendNull()
			continue
		}
		b.Field(0).(*array.StringBuilder).Append(fmt.Sprintf("%040d", r.IntN(different)))
	}
	return b.NewRecord()
}

func TestDictionaryArraysMakeTheSameFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 31))
	word := parseSchema(t, "w:string")
	nested := parseSchema(t, "q:string,p:binary,n:long,l:array<string>,k:map<string,array<binary>>,j:struct<b:int,a:array<struct<c:string,d:string>>>")
	many := wordsRecord(r, word, 40_000, 1<<40)
	for name, c := range map[string]struct {
		schema  *schema.Type
		records []arrow.Record
		ends    []int64 // of slices of each record, but for the last
	}{
		"few":              {word, []arrow.Record{wordsRecord(r, word, 50_000, 30), wordsRecord(r, word, 9, 2), wordsRecord(r, word, 5000, 1)}, nil},
		"all different":    {word, []arrow.Record{many, wordsRecord(r, word, 2000, 3)}, nil},
		"too many at last": {word, []arrow.Record{wordsRecord(r, word, 30_000, 50), many, wordsRecord(r, word, 5000, 5)}, nil},
		"of any depth":     {nested, []arrow.Record{randomRecord(r, nested, 700), randomRecord(r, nested, 300)}, []int64{0, 7, 200}},
	} {
		for _, encoding := range []string{"compatible", "compact"} {
			properties := map[string]string{encodingProperty: encoding}
			var indexed, plain []arrow.Record
			for _, rec := range c.records {
				indexed = append(indexed, slicesOf(indexedRecord(r, rec), c.ends...)...)
				plain = append(plain, slicesOf(rec, c.ends...)...)
			}
			got, want := writtenFile(t, c.schema, properties, indexed...), writtenFile(t, c.schema, properties, plain...)
			if !bytes.Equal(got, want) {
				t.Errorf("%s, %s: the file with dictionary arrays has %d bytes, that without %d", name, encoding, len(got), len(want))
			}
		}
	}
}

func slicesOf(rec arrow.Record, ends ...int64) []arrow.Record {
	var all []arrow.Record
	start := int64(0)
	for _, end := range append(ends, rec.NumRows()) {
		all = append(all, rec.NewSlice(start, end))
		start = end
	}
	return all
}

func TestDictionaryArraysNamePartitionsAndHaveStatistics(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 33))
	s := parseSchema(t, "p:string,a:string,s:struct<x:string,y:binary>")
	var shown [2][]string
	rec := randomRecord(r, s, 60)
	for i, rec := range []arrow.Record{rec, indexedRecord(r, rec)} {
		tbl := newTestTable(t, Options{})
		appendAll(t, tbl, 0, &Create{Schema: s, PartitionColumns: []string{"p"}}, rec)
		snap, err := tbl.Snapshot(t.Context(), Newest)
		if err != nil {
			t.Fatal(err)
		}
		shown[i] = snapshotRows(t, snap, ScanOptions{})
		for _, add := range seqtest.All(t, snap.State().Files.All(t.Context())) {
			folder, _, _ := strings.Cut(add.Path, "/")
			shown[i] = append(shown[i], folder+" "+add.Stats)
		}
	}
	if diff := cmp.Diff(shown[0], shown[1]); diff != "" {
		t.Error(diff)
	}
}

func TestDictionaryArraysThatDoNotFitAreRefused(t *testing.T) {
	texts := array.NewStringBuilder(memory.DefaultAllocator)
	texts.AppendString("a")
	texts.AppendNull()
	values := texts.NewArray()
	small, large := array.NewInt8Builder(memory.DefaultAllocator), array.NewInt32Builder(memory.DefaultAllocator)
	small.Append(0)
	large.AppendValues([]int32{0, 0}, []bool{true, false})
	of := func(indices, values arrow.Array) arrow.Record {
		a := array.NewDictionaryArray(&arrow.DictionaryType{IndexType: indices.DataType(), ValueType: values.DataType()}, indices, values)
		return array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "a", Type: a.DataType(), Nullable: true}}, nil), []arrow.Array{a}, int64(a.Len()))
	}
	indices := large.NewArray()
	var fits *SchemaError
	var null *NotNullError
	for _, c := range []struct {
		table, message string
		rec            arrow.Record
		as             any
	}{
		{"a:string", "their indices are int32", of(small.NewArray(), values), &fits},
		{"a:long", "column a is string in the rows and long in the table", of(indices, values), &fits},
		{"a:binary", "column a is string in the rows and binary in the table", of(indices, values), &fits},
		{"a:string", "a value of the record's dictionary is null", of(indices, values), nil},
		{"a:string NOT NULL", "column a is NOT NULL, and row 1", of(indices, array.NewSlice(values, 0, 1)), &null},
	} {
		a, err := newTestTable(t, Options{}).Begin(t.Context(), &Create{Schema: parseSchema(t, c.table)})
		if err != nil {
			t.Fatal(err)
		}
		err = a.Write(t.Context(), c.rec)
		if err == nil || !strings.Contains(err.Error(), c.message) || c.as != nil && !errors.As(err, c.as) {
			t.Errorf("%s: %v, want %q", c.table, err, c.message)
		}
		if err := a.Abort(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
