package table

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/sluicedata/sluice/schema"
)

// storedVariant is a variant as files have it, in the order in which Spark writes it.
type storedVariant struct {
	Value    []byte `parquet:"value"`
	Metadata []byte `parquet:"metadata"`
}

func variantColumn(name string, t *schema.Type) *schema.Type {
	return schema.StructOf(schema.Field{Name: name, Type: t, Nullable: true})
}

func parquetOf[T any](t *testing.T, rows ...T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := parquet.Write(&b, rows); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestVariantsAreReadAtEveryDepth(t *testing.T) {
	type row struct {
		V *storedVariant `parquet:"v,optional"`
		S *struct {
			L []*storedVariant `parquet:"l,list"`
		} `parquet:"s,optional"`
	}
	one, two := &storedVariant{[]byte{3 << 2, 7}, []byte{1, 0, 0}}, &storedVariant{[]byte{1 | 2<<2, 'h', 'i'}, []byte{1, 0, 0}}
	body := parquetOf(t, row{V: one}, row{S: &struct {
		L []*storedVariant `parquet:"l,list"`
	}{[]*storedVariant{two, one}}}, row{V: two})
	variant := schema.Of(schema.Variant)
	s := schema.StructOf(
		schema.Field{Name: "v", Type: variant, Nullable: true},
		schema.Field{Name: "s", Type: variantColumn("l", schema.ArrayOf(variant)), Nullable: true},
		schema.Field{Name: "none", Type: variant, Nullable: true},
	)
	got, err := readBytes(t, body, s)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"v=v010000:0c07 s=null none=null ", "v=null s=([v010000:096869;v010000:0c07;];) none=null ", "v=v010000:096869 s=null none=null "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestVariantsThatCannotBeReadAreErrors(t *testing.T) {
	type shredded struct {
		V *struct {
			Metadata []byte  `parquet:"metadata"`
			Value    []byte  `parquet:"value,optional"`
			Typed    *uint32 `parquet:"typed_value,optional"`
		} `parquet:"v,optional"`
	}
	type half struct {
		V *struct {
			Metadata []byte `parquet:"metadata"`
		} `parquet:"v,optional"`
	}
	type empty struct {
		V *struct {
			Metadata []byte `parquet:"metadata"`
			Value    []byte `parquet:"value,optional"`
		} `parquet:"v,optional"`
	}
	withoutValue := empty{}
	withoutValue.V = &struct {
		Metadata []byte `parquet:"metadata"`
		Value    []byte `parquet:"value,optional"`
	}{Metadata: []byte{1, 0, 0}}
	for name, c := range map[string]struct {
		body []byte
		want string
	}{
		"shredded": {parquetOf(t, shredded{}), "column typed_value: the file stores variants as INT(32,false)"},
		"half":     {parquetOf(t, half{}), "column v: the file stores no variant"},
		"no group": {parquetOf(t, struct {
			V int64 `parquet:"v"`
		}{}), "column v: the file stores no variant"},
		"no value": {parquetOf(t, withoutValue), "column v: a variant has no metadata, or no value"},
		"damaged": {parquetOf(t, struct {
			V storedVariant `parquet:"v"`
		}{storedVariant{[]byte{6 << 2}, []byte{1, 0, 0}}}), "column v: the variant is damaged: it ends too early"},
		"other version": {parquetOf(t, struct {
			V storedVariant `parquet:"v"`
		}{storedVariant{[]byte{0}, []byte{2, 0, 0}}}), "version 2"},
	} {
		if _, err := readBytes(t, c.body, variantColumn("v", schema.Of(schema.Variant))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestVariantsAreNotWritten(t *testing.T) {
	s := variantColumn("v", schema.Of(schema.Variant))
	_, err := newTestTable(t, Options{}).Begin(t.Context(), &Create{Schema: s})
	if err == nil || !strings.Contains(err.Error(), "column v is variant, which cannot be stored") {
		t.Error(err)
	}
}
