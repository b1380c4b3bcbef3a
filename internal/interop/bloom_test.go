package interop

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/table"
)

// TestDuckDBLeavesRowGroupsOutByBloomFilters asks for texts that are there, and for others that lie between them.
func TestDuckDBLeavesRowGroupsOutByBloomFilters(t *testing.T) {
	readers := Readers(t)
	columns := schema.StructOf(schema.Field{Name: "s", Type: schema.Of(schema.String)})
	r := rand.New(rand.NewPCG(50, 50))
	b := array.NewRecordBuilder(memory.DefaultAllocator, columns.ArrowSchema())
	var texts []string
	for range 5000 {
		text := fmt.Sprintf("%016x", r.Uint64())
		texts = append(texts, text)
		b.Field(0).(*array.StringBuilder).Append(text)
	}
	path := t.TempDir()
	written := table.New(local.New(path), table.Options{})
	a, err := written.Begin(t.Context(), &table.Create{Schema: columns, Properties: map[string]string{"sluice.parquet.bloomFilterColumns": "s"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Write(t.Context(), b.NewRecord()); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Commit(t.Context(), table.Batch{}); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(path, "*.parquet"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	args := append([]string{files[0], "s"}, texts[:100]...)
	for range 100 {
		args = append(args, fmt.Sprintf("8%015x", r.Uint64()>>4))
	}
	out, err := readers.run(t.Context(), nil, "probe_bloom.py", args...)
	if err != nil {
		t.Fatal(err)
	}
	var excluded []bool
	if err := json.Unmarshal(out, &excluded); err != nil || len(excluded) != 200 {
		t.Fatal(string(out), err)
	}
	wrong, right := 0, 0
	for i, e := range excluded {
		switch {
		case e && i < 100:
			wrong++
		case e:
			right++
		}
	}
	if wrong > 0 || right < 90 {
		t.Errorf("of 100 texts that are there %d are excluded, of 100 others %d", wrong, right)
	}
}
