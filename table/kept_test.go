package table

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/schema"
)

// files are the bytes of a store's data files, in an order of their own.
func (s *memStore) files() []string {
	var all []string
	for _, key := range s.dataKeys() {
		all = append(all, string(s.objects[key]))
	}
	slices.Sort(all)
	return all
}

// TestFilesAreTheSameWhoeverWroteBefore compares the files of a table that is kept with those of one that is opened anew for each append.
func TestFilesAreTheSameWhoeverWroteBefore(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := randomStruct(r, 4, 2)
		s.Fields = append(s.Fields, schema.Field{Name: "part", Type: &schema.Type{Kind: schema.Boolean}, Nullable: true})
		create := &Create{Schema: s, Properties: map[string]string{encodingProperty: []string{"compatible", "compact"}[seed%2]}}
		if seed%3 == 0 {
			create.PartitionColumns = []string{"part"}
		}
		table, anew := newTestTable(t, Options{}), newTestTable(t, Options{})
		for batch := range int64(4) {
			rec := randomRecord(r, s, r.IntN(300))
			appendAll(t, table, batch, create, rec)
			appendAll(t, New(anew.store, anew.options), batch, create, rec)
		}
		if diff := cmp.Diff(anew.store.(*memStore).files(), table.store.(*memStore).files()); diff != "" {
			t.Errorf("seed %d, %v: the files differ", seed, s)
		}
	}
}

func TestSmallAppendsLeaveTheirEncoderToTheNext(t *testing.T) {
	s, small := eventRecord(t, 100)
	_, large := eventRecord(t, 20_000)
	tbl := newTestTable(t, Options{})
	create := &Create{Schema: s}
	var before *kept
	for i, rec := range []arrow.Record{small, small, small, large, small} {
		appendAll(t, tbl, int64(i), create, rec)
		now := tbl.kept.Load()
		if wantOne := rec == small; (len(now.spare) == 1) != wantOne {
			t.Errorf("append %d left %d encoders", i, len(now.spare))
		}
		if i > 1 && now != before { // the first was to a table that did not exist
			t.Errorf("append %d laid out the files anew", i)
		}
		before = now
	}
	tbl.kept.Store(&kept{form: form{schema: s, properties: map[string]string{"a": "b"}}})
	if tbl.take(form{schema: s}) != nil {
		t.Error("what was kept for other properties was taken")
	}
}
