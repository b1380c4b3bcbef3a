package table

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/internal/seqtest"
)

func TestExportHoldsWhatAScanHandsOut(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	s := parseSchema(t, "p:string,a:long,s:struct<x:double,y:array<string>>")
	tbl := newTestTable(t, Options{})
	appendAll(t, tbl, 0, &Create{Schema: s, PartitionColumns: []string{"p"}}, randomRecord(r, s, 50))
	snap, err := tbl.Snapshot(t.Context(), Newest)
	if err != nil {
		t.Fatal(err)
	}
	for _, options := range []ScanOptions{{}, {Columns: []string{"s", "p"}, Limit: 20}} {
		var body bytes.Buffer
		n, err := snap.Export(t.Context(), options, &body)
		if err != nil {
			t.Fatal(err)
		}
		wanted, err := project(snap.schema, options.Columns)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readBytes(t, body.Bytes(), wanted)
		if err != nil || int(n) != len(got) {
			t.Fatalf("%d rows told, %d read: %v", n, len(got), err)
		}
		if diff := cmp.Diff(snapshotRows(t, snap, options), got); diff != "" {
			t.Error(diff)
		}
	}
	for f, err := range snap.Files(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		add := seqtest.All(t, snap.State().Files.All(t.Context()))[0]
		if rows := commitlog.RowsOf(add.Stats, nil); rows != f.Rows {
			t.Errorf("%d rows, and %d", rows, f.Rows)
		}
		break
	}
}
