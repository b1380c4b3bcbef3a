package table

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/schema"
)

// striped are the entries of a leaf in text: repetition and definition level of each, and the index in the leaf's array where it is there.
type striped map[string][]string

func (s striped) add(leaf string, rep, def, at int) {
	text := fmt.Sprintf("%d %d", rep, def)
	if at >= 0 {
		text += fmt.Sprintf(" at %d", at)
	}
	s[leaf] = append(s[leaf], text)
}

// stripeOne takes the value at an index apart, or the lack of one where the index is below zero, as the Dremel paper does: one by one.
func (s striped) stripeOne(b *bound, at, rep, def int) {
	if at >= 0 {
		if def = b.nullDef; b.null(at) {
			at = -1
		} else {
			def = b.def
		}
	}
	start, end := at, at+1
	if b.column.rep > 0 && at >= 0 {
		start, end = int(b.offsets[at]), int(b.offsets[at+1])
		if start == end {
			start, end = -1, 0
		}
	}
	if b.isLeaf() {
		s.add(b.path, rep, def, at)
	}
	for _, child := range b.children {
		for i := start; i < max(end, start+1); i++ {
			if i == start {
				s.stripeOne(child, i, rep, def)
			} else {
				s.stripeOne(child, i, b.column.rep, def)
			}
		}
	}
}

func TestColumnsAreTakenApartAsValuesOneByOne(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		typ := randomStruct(r, 6, 3)
		typ.Fields[0].Nullable = true
		columns, nodes := columnsOf(typ)
		known := &schema.Type{Kind: schema.Struct, Fields: typ.Fields[1:]} // the record lacks the first
		before, n := r.IntN(20), 1+r.IntN(40)
		record := randomRecord(r, known, before+n+r.IntN(20)).NewSlice(int64(before), int64(before+n))
		bounds, err := bind(columns, record)
		if err != nil {
			t.Fatal(err)
		}
		var rows []int32
		sparse := r.IntN(2) > 0
		for i := range int32(n) {
			if !sparse || r.IntN(3) > 0 || len(rows) == 0 {
				rows = append(rows, i)
			}
		}
		got, want := striped{}, striped{}
		nulls := map[string]int{}
		s := newShredder(nodes, func(b *bound, at []int32, l levelled, n int) error {
			if n != len(rows) {
				t.Errorf("seed %d, %s: of %d rows, want %d", seed, b.path, n, len(rows))
			}
			for i := range l.levels {
				rep, def, index := 0, b.def, -1
				if l.rep != nil {
					rep = int(l.rep[i])
				}
				if l.def != nil {
					def = int(l.def[i])
				}
				if def == b.def {
					index, at = int(at[0]), at[1:]
				}
				got.add(b.path, rep, def, index)
			}
			nulls[b.path] = l.absent
			return nil
		})
		for _, b := range bounds {
			if err := s.shred(b, rows); err != nil {
				t.Fatal(err)
			}
			for _, row := range rows {
				want.stripeOne(b, int(row), 0, 0)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d: entries (-one by one +by columns):\n%s", seed, diff)
		}
		for leaf, entries := range want {
			absent := 0
			for _, e := range entries {
				absent += btoi(!strings.Contains(e, "at"))
			}
			if nulls[leaf] != absent {
				t.Errorf("seed %d, %s: %d absent, want %d", seed, leaf, nulls[leaf], absent)
			}
		}
	}
}
