package interop

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/schema"
	"github.com/sluicedata/sluice/storage/local"
	"github.com/sluicedata/sluice/table"
)

// TestForeignReadersReadLogCheckpoints deletes the commits that a log checkpoint stands for, of tables with statistics and
// partition values of every type. ClickHouse misreads decimals among these.
func TestForeignReadersReadLogCheckpoints(t *testing.T) {
	Readers(t)
	arrowSchema := deltaTypes()
	columns, err := schema.FromArrowSchema(arrowSchema)
	if err != nil {
		t.Fatal(err)
	}
	var leaves []string // that a table can be partitioned by
	for _, f := range columns.Fields[1:] {
		if !f.Type.Nested() && f.Type.Kind != schema.Binary && f.Type.Kind != schema.Float && f.Type.Kind != schema.Double {
			leaves = append(leaves, f.Name)
		}
	}
	r := rand.New(rand.NewPCG(11, 11))
	record := withoutNullNests(r, arrowSchema, 40)
	var withoutDecimals []string
	for _, f := range columns.Fields {
		if f.Type.Kind != schema.Decimal {
			withoutDecimals = append(withoutDecimals, f.Name)
		}
	}
	var tables, ofPolars, ofClickHouse []Table
	for name, tt := range map[string]struct {
		json, parsed string
		partitions   []string
		v2           bool
	}{
		"json": {"true", "false", nil, false}, "struct": {"false", "true", nil, false}, "none": {"false", "false", nil, false},
		"partitioned": {"true", "true", leaves, false}, "v2": {"true", "true", leaves[:1], true},
	} {
		path := filepath.Join(t.TempDir(), name)
		create := &table.Create{Schema: columns, PartitionColumns: tt.partitions, Properties: map[string]string{
			"delta.checkpoint.writeStatsAsJson": tt.json, "delta.checkpoint.writeStatsAsStruct": tt.parsed, "delta.dataSkippingNumIndexedCols": "-1",
		}}
		writeTable(t, path, create, []arrow.Record{record, record})
		version := int64(1)
		if tt.v2 {
			version = 2
			upgradeToV2(t, path)
		}
		s, err := table.New(local.New(path), table.Options{}).Snapshot(t.Context(), table.Newest)
		if err != nil {
			t.Fatal(err)
		}
		want := Scanned(t, s) // from the commits; an empty text has become a null where it names a partition
		some := Scanned(t, s, withoutDecimals...)
		store := local.New(path)
		if done, err := commitlog.New(store).Checkpoint(t.Context()); err != nil || done.Version != version || tt.v2 != (done.Sidecars > 0) {
			t.Fatalf("%s: %+v, %v", name, done, err)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		for v := range version { // the newest one stays for those that look for its time
			if err := os.Remove(filepath.Join(path, "_delta_log", fmt.Sprintf("%020d.json", v))); err != nil {
				t.Fatal(err)
			}
		}
		asked := Table{Path: path, Versions: map[int64]Content{version: want}}
		tables = append(tables, asked)
		if tt.v2 {
			asked.Refused = map[string]string{"polars": "v2Checkpoint"}
		}
		ofPolars = append(ofPolars, asked)
		ofClickHouse = append(ofClickHouse, Table{Path: path, Columns: withoutDecimals, Versions: map[int64]Content{version: some}})
	}
	Check(t, tables...)
	CheckBy(t, "spark", tables...)
	CheckBy(t, "polars", ofPolars...)
	CheckBy(t, "chdb", ofClickHouse...)
}

// upgradeToV2 adds version 2, of a protocol with V2 checkpoints and with so many tombstones that files go into a sidecar.
func upgradeToV2(t *testing.T, path string) {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["v2Checkpoint","timestampNtz"],"writerFeatures":["v2Checkpoint","timestampNtz","appendOnly","invariants"]}}` + "\n")
	first, err := os.ReadFile(filepath.Join(path, "_delta_log", "00000000000000000000.json"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(first), "\n") {
		if strings.HasPrefix(line, `{"metaData"`) {
			b.WriteString(strings.Replace(line, `"configuration":{`, `"configuration":{"delta.checkpointPolicy":"v2",`, 1) + "\n")
		}
	}
	for i := range 5000 {
		fmt.Fprintf(&b, `{"remove":{"path":"gone-%d","deletionTimestamp":%d,"dataChange":true}}`+"\n", i, time.Now().UnixMilli())
	}
	if err := os.WriteFile(filepath.Join(path, "_delta_log", "00000000000000000002.json"), []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}
