package json_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/format/json"
	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/source"
)

// shared returns a fixture from the folder that SLUICE_SHARED names, beside the repository unless told, and skips without.
func shared(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(sharedRoot(), name))
	if err != nil {
		tb.Skipf("no fixture %s: set SLUICE_SHARED to the folder of the shared fixtures", name)
	}
	return data
}

func sharedRoot() string {
	if root := os.Getenv("SLUICE_SHARED"); root != "" {
		return root
	}
	return filepath.Join("..", "..", "..", "shared")
}

// columns reads columns as "name type", "name type from path", "name type meta source", each perhaps with "not null" at
// the end. A name with spaces does not go.
func columns(tb testing.TB, specs ...string) []format.Column {
	tb.Helper()
	cols := make([]format.Column, len(specs))
	for i, spec := range specs {
		spec, notNull := strings.CutSuffix(spec, " not null")
		name, rest, _ := strings.Cut(spec, " ")
		c := format.Column{Name: name, Nullable: !notNull}
		ddl, meta, _ := strings.Cut(rest, " meta ")
		ddl, from, hasFrom := strings.Cut(ddl, " from ")
		c.Meta = meta
		var err error
		if c.Type, err = schema.ParseDDL(ddl); err != nil {
			tb.Fatalf("%s: %v", spec, err)
		}
		if hasFrom {
			if c.From, err = format.ParsePath(from); err != nil {
				tb.Fatalf("%s: %v", spec, err)
			}
		}
		cols[i] = c
	}
	return cols
}

func newDecoder(tb testing.TB, specs ...string) *json.Decoder {
	tb.Helper()
	d, err := json.New(columns(tb, specs...), json.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// refuse fails the test for every bad record.
func refuse(tb testing.TB) func(format.Bad) error {
	return func(b format.Bad) error {
		tb.Errorf("bad record at %d: column %q: %s", b.Position, b.Column, b.Reason)
		return nil
	}
}

// ignore lets bad records pass.
func ignore(format.Bad) error { return nil }

// block makes a block of a file's records.
func block(records ...string) *source.Block {
	b := &source.Block{Partition: "f", File: &source.File{Path: "f"}}
	for i, r := range records {
		b.Values = append(b.Values, []byte(r))
		b.Positions = append(b.Positions, int64(i+1))
	}
	return b
}

// decode returns the rows of the records, each as Arrow's JSON, and the reasons of the bad ones.
func decode(tb testing.TB, d *json.Decoder, b *source.Block) (rows []string, bad []format.Bad) {
	tb.Helper()
	err := d.Decode(b, func(f format.Bad) error {
		f.Value = append([]byte(nil), f.Value...)
		bad = append(bad, f)
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	r := d.Flush()
	defer r.Release()
	return rowTexts(tb, r), bad
}

func rowTexts(tb testing.TB, r arrow.Record) []string {
	tb.Helper()
	text, err := r.MarshalJSON()
	if err != nil {
		tb.Fatal(err)
	}
	_ = text
	rows := make([]string, r.NumRows())
	for i := range rows {
		var cells []string
		for _, c := range r.Columns() {
			cells = append(cells, c.ValueStr(i))
		}
		rows[i] = strings.Join(cells, "|")
	}
	return rows
}

// frameBlock cuts a file and returns all of its records in one block.
func frameBlock(tb testing.TB, data []byte) *source.Block {
	tb.Helper()
	f, err := json.NewFramer(json.FrameOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	b := block()
	err = f.Frame(bytes.NewReader(data), func(part *source.Block) error {
		for i, v := range part.Values {
			b.Values = append(b.Values, bytes.Clone(v))
			b.Positions = append(b.Positions, part.Positions[i])
		}
		if len(part.Faults) > 0 {
			tb.Errorf("faults: %v", part.Faults)
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return b
}
