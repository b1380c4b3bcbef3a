package table

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	theirs "github.com/parquet-go/parquet-go/variant"

	"github.com/sluicedata/sluice/schema"
)

// shreds writes values as variants in a column v, shredded as a type, and reads them: each as parquet-go decodes it, and as text.
func shreds(t *testing.T, shreddedAs parquet.Node, values []any) (got []string, err error) {
	t.Helper()
	type row struct {
		V any `parquet:"v,variant"`
	}
	node, err := parquet.ShreddedVariant(shreddedAs)
	if err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	w := parquet.NewGenericWriter[row](&body, parquet.NewSchema("root", parquet.Group{"v": node}))
	rows := make([]row, len(values))
	for i, v := range values {
		rows[i].V = v
	}
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return variantsOf(t, body.Bytes(), "v")
}

// variantsOf reads a column of variants of a file.
func variantsOf(t *testing.T, body []byte, name string) (got []string, err error) {
	t.Helper()
	store := newMemStore()
	store.objects["f.parquet"] = body
	r := fileReader{file: place{reader: store, key: "f.parquet"}, schema: variantColumn(name, schema.Of(schema.Variant)), fn: func(r arrow.Record) error {
		a := r.Column(0).(*schema.VariantArray)
		for i := range int(r.NumRows()) {
			metadata, value := a.Value(i)
			got = append(got, variantText(t, metadata, value))
		}
		return nil
	}}
	return got, r.read(t.Context())
}

func variantText(t *testing.T, metadata, value []byte) string {
	t.Helper()
	v, err := theirs.Unmarshal(metadata, value)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%#v", v)
}

// TestShreddedVariantsAreThoseThatWereWritten shreds random values by types that fit some of them, part of some, and none.
func TestShreddedVariantsAreThoseThatWereWritten(t *testing.T) {
	event := parquet.Group{"kind": parquet.String(), "at": parquet.Timestamp(parquet.Microsecond), "in": parquet.Group{"n": parquet.Int(64)}}
	for name, shreddedAs := range map[string]parquet.Node{
		"long": parquet.Int(64), "byte": parquet.Int(8), "double": parquet.Leaf(parquet.DoubleType), "boolean": parquet.Leaf(parquet.BooleanType),
		"string": parquet.String(), "binary": parquet.Leaf(parquet.ByteArrayType), "decimal": parquet.Decimal(2, 9, parquet.Int32Type),
		"date": parquet.Date(), "uuid": parquet.UUID(), "nanos": parquet.Timestamp(parquet.Nanosecond), "array": parquet.List(parquet.String()),
		"array of objects": parquet.List(event), "object": event,
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, uint64(len(name))))
			values := make([]any, 300)
			want := make([]string, len(values))
			for i := range values {
				values[i] = randomVariant(r, 3)
				metadata, value, err := theirs.Marshal(values[i])
				if err != nil {
					t.Fatal(err)
				}
				want[i] = variantText(t, metadata, value)
			}
			got, err := shreds(t, shreddedAs, values)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func randomVariant(r *rand.Rand, depth int) any {
	switch n := r.IntN(12); {
	case n == 0:
		return nil
	case n == 1:
		return r.IntN(2) == 0
	case n < 4:
		return r.Int64() >> r.IntN(63)
	case n < 6 || depth == 0:
		return strings.Repeat("é", r.IntN(40))
	case n == 6:
		return r.Float64()
	case n == 7:
		return []byte{byte(n), 0}
	case n < 10:
		object := map[string]any{}
		for _, name := range []string{"kind", "at", "in", "n", "other"} {
			if r.IntN(2) == 0 {
				object[name] = randomVariant(r, depth-1)
			}
		}
		return object
	default:
		list := make([]any, r.IntN(4))
		for i := range list {
			list[i] = randomVariant(r, depth-1)
		}
		return list
	}
}

// TestShreddedVariantsOfParquetJavaAreRead reads the files that parquet-go's own tests have of parquet-testing, and compares with what
// lies beside them.
func TestShreddedVariantsOfParquetJavaAreRead(t *testing.T) {
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/parquet-go/parquet-go").Output()
	source := strings.TrimSpace(string(module))
	if err != nil || source == "" {
		t.Skipf("the source of parquet-go, which has the files, is not at hand: go list -m: %v", err)
	}
	folder := filepath.Join(source, "testdata", "shredded_variant")
	for name, rows := range map[string]int{"case-004": 1, "case-045": 4, "case-134": 1, "case-042": -1} {
		body, err := os.ReadFile(filepath.Join(folder, name+".parquet"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := variantsOf(t, body, "var")
		if rows < 0 {
			if err == nil || !strings.Contains(err.Error(), "it has a value and a typed_value, and is no object") {
				t.Errorf("%s: got %v, %v", name, got, err)
			}
			continue
		}
		if err != nil || len(got) != rows {
			t.Errorf("%s: %d rows, %v", name, len(got), err)
			continue
		}
		for i, text := range got {
			golden, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("%s_row-%d.variant.bin", name, i)))
			if err != nil {
				t.Fatal(err)
			}
			at := metadataSize(golden)
			if want := variantText(t, golden[:at], golden[at:]); text != want {
				t.Errorf("%s, row %d: got %s, want %s", name, i, text, want)
			}
		}
	}
}

// metadataSize is where a variant's value begins behind its metadata, whose numbers take a byte each.
func metadataSize(b []byte) int {
	n := int(b[1])
	return 2 + n + 1 + int(b[2+n])
}

// TestShreddedVariantsInListsAndNullsAreRead has a list of them, of which some are null, beside a column.
func TestShreddedVariantsInListsAndNullsAreRead(t *testing.T) {
	type v struct {
		Metadata []byte `parquet:"metadata"`
		Value    []byte `parquet:"value,optional"`
		Typed    *int64 `parquet:"typed_value,optional"`
	}
	type row struct {
		L []*v  `parquet:"l,list"`
		N int64 `parquet:"n"`
	}
	seven := int64(7)
	body := parquetOf(t, row{L: []*v{{Metadata: noNames(), Typed: &seven}, nil, {Metadata: noNames(), Value: []byte{1 | 2<<2, 'h', 'i'}}, {Metadata: noNames()}}, N: 1}, row{N: 2})
	s := variantColumn("l", schema.ArrayOf(schema.Of(schema.Variant)))
	s.Fields = append(s.Fields, schema.Field{Name: "n", Type: schema.Of(schema.Long)})
	got, err := readBytes(t, body, s)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"l=[v110000:0c07;null;v110000:096869;v110000:00;] n=1 ", "l=[] n=2 "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFieldThatIsShreddedAndEncodedIsAnError(t *testing.T) {
	type field struct {
		Value []byte `parquet:"value,optional"`
		Typed *int64 `parquet:"typed_value,optional"`
	}
	type object struct {
		A field `parquet:"a"`
	}
	type row struct {
		V struct {
			Metadata []byte  `parquet:"metadata"`
			Value    []byte  `parquet:"value,optional"`
			Typed    *object `parquet:"typed_value,optional"`
		} `parquet:"v"`
	}
	seven := int64(7)
	var r row
	r.V.Metadata, r.V.Value, r.V.Typed = []byte{0x11, 1, 0, 1, 'a'}, []byte{2, 1, 0, 0, 1, 0}, &object{field{Typed: &seven}}
	got, err := variantsOf(t, parquetOf(t, r), "v")
	if err == nil || !strings.Contains(err.Error(), `column v: variant builder: duplicate object field "a"`) {
		t.Errorf("got %v, %v", got, err)
	}
}

func noNames() []byte { return []byte{1, 0, 0} }
