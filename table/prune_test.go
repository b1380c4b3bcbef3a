package table

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/sluicedata/sluice/schema"
)

// cellValue is a cell as a Value.
func cellValue(t *schema.Type, a arrow.Array, i int) Value {
	if a.IsNull(i) {
		return nil
	}
	switch a := a.(type) {
	case *array.Boolean:
		return a.Value(i)
	case *array.Int8:
		return int64(a.Value(i))
	case *array.Int16:
		return int64(a.Value(i))
	case *array.Int32:
		return int64(a.Value(i))
	case *array.Int64:
		return a.Value(i)
	case *array.Date32:
		return int64(a.Value(i))
	case *array.Timestamp:
		return int64(a.Value(i))
	case *array.Float32:
		return float64(a.Value(i))
	case *array.Float64:
		return a.Value(i)
	case *array.String:
		return a.Value(i)
	case *array.Decimal128:
		return Decimal{a.Value(i), t.Scale}
	default:
		return nil
	}
}

// matching are the rows of a scan that fulfil the conditions, in text.
func matching(t *testing.T, snap *Snapshot, scanWhere, where []Condition) []string {
	t.Helper()
	var rows []string
	err := snap.Scan(t.Context(), ScanOptions{Where: scanWhere}, func(r arrow.Record) error {
		texts := rowTexts(r)
	row:
		for i := range texts {
			for _, c := range where {
				at := snap.Schema().Index(c.Column)
				if !c.holds(cellValue(snap.Schema().Fields[at].Type, r.Column(at), i)) {
					continue row
				}
			}
			rows = append(rows, texts[i])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestPruningNeverLosesRows(t *testing.T) {
	ops := []Op{Equal, Less, LessOrEqual, Greater, GreaterOrEqual, IsNull, IsNotNull}
	pruned := 0
	for seed := range uint64(15) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 5))
			s := schema.StructOf(schema.Field{Name: "p", Type: schema.Of([]schema.Kind{schema.Integer, schema.Date, schema.String}[r.IntN(3)]), Nullable: true})
			for i := range 4 {
				s.Fields = append(s.Fields, schema.Field{Name: fmt.Sprint("c", i), Type: randomLeaf(r), Nullable: true})
			}
			tbl := newTestTable(t, Options{})
			var sample arrow.Record
			for batch := range int64(4) {
				sample = randomRecord(r, s, 1+r.IntN(6))
				appendAll(t, tbl, batch, &Create{Schema: s, PartitionColumns: []string{"p"}}, sample)
			}
			snap, err := tbl.Snapshot(t.Context(), Newest)
			if err != nil {
				t.Fatal(err)
			}
			for range 25 {
				var where []Condition
				for range 1 + r.IntN(2) {
					at := r.IntN(len(s.Fields))
					c := Condition{Column: s.Fields[at].Name, Op: ops[r.IntN(len(ops))]}
					c.Value = cellValue(s.Fields[at].Type, sample.Column(at), r.IntN(int(sample.NumRows())))
					if c.Value == nil || s.Fields[at].Type.Kind == schema.Binary {
						c.Op = []Op{IsNull, IsNotNull}[r.IntN(2)]
					}
					if s.Fields[at].Type.Kind == schema.Binary {
						continue
					}
					where = append(where, c)
				}
				want, got := matching(t, snap, nil, where), matching(t, snap, where, where)
				if fmt.Sprint(want) != fmt.Sprint(got) {
					t.Fatalf("%+v: pruned %d rows of %d", where, len(want)-len(got), len(want))
				}
				for f, err := range snap.Files() {
					if err != nil {
						t.Fatal(err)
					}
					if excluded(where, &f) {
						pruned++
					}
				}
			}
		})
	}
	if pruned == 0 {
		t.Error("nothing was pruned")
	}
}

func TestConditionsAreChecked(t *testing.T) {
	s := schema.StructOf(schema.Field{Name: "s", Type: schema.StructOf(schema.Field{Name: "x", Type: schema.Of(schema.Long)})})
	for _, c := range []Condition{
		{"y", Equal, int64(1)}, {"s.y", Equal, int64(1)}, {"s.x", Equal, "1"}, {"s.x", Equal, 1}, {"s.x", "~", int64(1)}, {"s.x", Equal, nil},
	} {
		if c.check(s) == nil {
			t.Errorf("%+v is let in", c)
		}
	}
	if err := (&Condition{"s.x", Less, int64(1)}).check(s); err != nil {
		t.Error(err)
	}
}
