package table

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRowsOfAnySchemaComeBackAsTheyWere(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			s := randomStruct(r, 1+r.IntN(6), 3)
			tbl := newTestTable(t, Options{})
			var want []string
			for batch := range int64(2) {
				a, err := tbl.Begin(t.Context(), &Create{Schema: s})
				if err != nil {
					t.Fatal(err)
				}
				for range 1 + r.IntN(3) {
					rec := randomRecord(r, s, r.IntN(1500))
					want = append(want, rowTexts(rec)...)
					if err := a.Write(t.Context(), rec); err != nil {
						t.Fatal(err)
					}
					rec.Release()
				}
				if _, err := a.Commit(t.Context(), Batch{ID: batch}); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(want, scanRows(t, tbl, ScanOptions{})); diff != "" {
				t.Fatalf("schema %s\n%.2000s", s, diff)
			}
		})
	}
}
