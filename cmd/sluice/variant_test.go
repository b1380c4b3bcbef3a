package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/table"
)

// TestVariantsOfSparkArePrintedAsTheirAuthorMadeThem prints tables with variants in columns, structs, arrays and maps. Spark made
// them of a number each, by a query that lies beside them: the row of every number below 100, and those of 0 and 1 once more.
func TestVariantsOfSparkArePrintedAsTheirAuthorMadeThem(t *testing.T) {
	shared := os.Getenv("SLUICE_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	root := filepath.Join(shared, "conformance")
	if _, err := os.Stat(root); err != nil {
		t.Skipf("no foreign tables at %s; set SLUICE_SHARED to the folder that holds conformance/", root)
	}
	for _, name := range []string{
		"delta-kernel-defaults/spark-shredded-variant-preview-delta", "delta-kernel-defaults/spark-variant-checkpoint",
		"duckdb-delta-inlined/unshredded-variant", "kernel-rs-data/unshredded-variant",
	} {
		s, err := openSnapshot(t.Context(), filepath.Join(root, name), moment{version: table.Newest})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := scanTo(t.Context(), s, table.ScanOptions{}, &out); err != nil {
			t.Fatal(err)
		}
		var want []string
		for i := range 102 {
			key := fmt.Sprintf(`{"key":%d}`, i%100)
			want = append(want, fmt.Sprintf(`{"id":%d,"v":%[2]s,"array_of_variants":[%[2]s,null,%[2]s,null,%[2]s],"struct_of_variants":{"v":%[2]s},`+
				`"map_of_variants":{"%[1]d":%[2]s,"nullKey":null},"array_of_struct_of_variants":[{"v":%[2]s},{"v":null},null,{"v":%[2]s},null,{"v":%[2]s}],`+
				`"struct_of_array_of_variants":{"v":[null,%[2]s]}}`, i%100, key))
		}
		got := strings.Split(strings.TrimSpace(out.String()), "\n")
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %.2000s", name, diff)
		}
	}
}
