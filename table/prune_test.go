package table

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/internal/seqtest"
	"github.com/sluicedata/sluice/schema"
)

// plainly is what a predicate says of a row, without any of the product's logic: nil is unknown.
func plainly(p *Predicate, t *schema.Type, r arrow.Record, row int) *bool {
	yes, no := true, false
	answer := func(b bool) *bool {
		if b {
			return &yes
		}
		return &no
	}
	switch p.Op {
	case Not:
		if inner := plainly(p.Of[0], t, r, row); inner != nil {
			return answer(!*inner)
		}
		return nil
	case And, Or:
		unknown := false
		for _, o := range p.Of {
			switch inner := plainly(o, t, r, row); {
			case inner == nil:
				unknown = true
			case *inner == (p.Op == Or):
				return inner
			}
		}
		if unknown {
			return nil
		}
		return answer(p.Op == And)
	case In:
		or := &Predicate{Op: Or}
		for _, v := range p.Values {
			or.Of = append(or.Of, &Predicate{Op: Equal, Column: p.Column, Values: []Value{v}})
		}
		return plainly(or, t, r, row)
	}
	columns, cell := r.Columns(), arrow.Array(nil)
	for _, name := range p.Column {
		cell = columns[t.Index(name)]
		t = t.Fields[t.Index(name)].Type
		if cell.IsNull(row) {
			break
		}
		if s, is := cell.(*array.Struct); is {
			columns = nil
			for i := range s.NumField() {
				columns = append(columns, s.Field(i))
			}
		}
	}
	if p.Op == IsNull {
		return answer(cell.IsNull(row))
	}
	if cell.IsNull(row) || p.Values[0] == nil {
		return nil
	}
	order := strings.Compare(sortable(valueAt(cell, row, t.Scale)), sortable(p.Values[0]))
	return answer(order == 0 && strings.Contains(string(p.Op), "=") || order < 0 && p.Op[0] == '<' || order > 0 && p.Op[0] == '>')
}

// sortable is a text in whose order the values of a type are.
func sortable(v Value) string {
	switch v := v.(type) {
	case int64:
		return fmt.Sprintf("%016x", uint64(v)^1<<63)
	case float64:
		switch bits := math.Float64bits(v); {
		case v != v:
			return "z"
		case v == 0:
			return fmt.Sprintf("%016x", uint64(1<<63))
		case v < 0:
			return fmt.Sprintf("%016x", ^bits)
		default:
			return fmt.Sprintf("%016x", bits|1<<63)
		}
	case Decimal:
		return fmt.Sprintf("%050s", new(big.Int).Add(v.Unscaled.BigInt(), new(big.Int).Lsh(big.NewInt(1), 130)))
	default:
		return fmt.Sprint(v)
	}
}

// randomPredicate is about columns of the sample, with values that it has.
func randomPredicate(r *rand.Rand, t *schema.Type, sample arrow.Record, depth int) *Predicate {
	if op := []Op{And, Or, Not, "", "", ""}[r.IntN(6)]; depth > 0 && op != "" {
		p := &Predicate{Op: op, Of: []*Predicate{randomPredicate(r, t, sample, depth-1)}}
		for op != Not && (len(p.Of) < 2 || r.IntN(3) == 0) {
			p.Of = append(p.Of, randomPredicate(r, t, sample, depth-1))
		}
		return p
	}
	f := t.Fields[r.IntN(len(t.Fields))]
	p := &Predicate{Op: []Op{Equal, Less, LessOrEqual, Greater, GreaterOrEqual, In, IsNull}[r.IntN(7)], Column: []string{f.Name}}
	if f.Type.Kind == schema.Struct && r.IntN(8) > 0 {
		p.Column = append(p.Column, f.Type.Fields[r.IntN(len(f.Type.Fields))].Name)
	}
	if typeAt(t, p.Column).Nested() {
		p.Op = IsNull
	}
	for p.Op != IsNull && (len(p.Values) < 1 || p.Op == In && r.IntN(2) == 0) {
		p.Values = append(p.Values, cellAt(t, sample, r.IntN(int(sample.NumRows())), p.Column))
	}
	return p
}

func TestPruningNeverLosesRows(t *testing.T) {
	pruned := map[bool]int{}
	for seed := range uint64(prunedTables) {
		foreign := seed%2 == 1
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 5))
			s := schema.StructOf(schema.Field{Name: "p", Type: schema.Of([]schema.Kind{schema.Integer, schema.Date, schema.String, schema.Double}[r.IntN(4)]), Nullable: true})
			for i := range 4 {
				s.Fields = append(s.Fields, schema.Field{Name: fmt.Sprint("c", i), Type: randomLeaf(r), Nullable: true})
			}
			s.Fields = append(s.Fields, schema.Field{Name: "s", Type: schema.StructOf(schema.Field{Name: "a", Type: randomLeaf(r), Nullable: true}, schema.Field{Name: "b", Type: randomLeaf(r)}), Nullable: true})
			create := &Create{Schema: s, PartitionColumns: []string{"p"}}
			if foreign {
				create.PartitionColumns = nil
			}
			tbl := newTestTable(t, Options{})
			var records []arrow.Record
			for batch := range int64(4) {
				records = append(records, randomRecord(r, s, 1+r.IntN(6)))
				appendAll(t, tbl, batch, create, records[batch])
			}
			if foreign {
				tellOtherwise(t, r, tbl, s, records)
			}
			snap, err := tbl.Snapshot(t.Context(), Newest)
			if err != nil {
				t.Fatal(err)
			}
			var rows []arrow.Record
			if err := snap.Scan(t.Context(), ScanOptions{}, func(r arrow.Record) error { r.Retain(); rows = append(rows, r); return nil }); err != nil {
				t.Fatal(err)
			}
			for range 60 {
				where := randomPredicate(r, s, records[r.IntN(len(records))], 2)
				var want []string
				for _, r := range rows {
					for i, text := range rowTexts(r) {
						if holds := plainly(where, s, r, i); holds != nil && *holds {
							want = append(want, text)
						}
					}
				}
				var counts ScanCounts
				got := snapshotRows(t, snap, ScanOptions{Where: where, Counts: &counts})
				if fmt.Sprint(want) != fmt.Sprint(got) {
					text, _ := json.Marshal(where)
					t.Fatalf("%s\nwant %d rows: %s\ngot %d: %s", text, len(want), want, len(got), got)
				}
				pruned[foreign] += counts.Skipped
			}
		})
	}
	if least := 4 * prunedTables; pruned[false] < least || pruned[true] < least {
		t.Errorf("files skipped by foreign statistics or not: %v", pruned)
	}
}

// tellOtherwise commits the table's files again, one for each record, with the statistics of another writer, some without any,
// and some with rows deleted.
func tellOtherwise(t *testing.T, r *rand.Rand, tbl *Table, s *schema.Type, records []arrow.Record) {
	t.Helper()
	store := tbl.store.(*memStore)
	const vectors = "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"
	store.objects[vectors] = []byte{1}
	state, err := tbl.Log().Files(t.Context(), Newest)
	if err != nil {
		t.Fatal(err)
	}
	tx := commitlog.Transaction{ReadVersion: state.Version}
	for _, add := range seqtest.All(t, state.Files.All(t.Context())) {
		record := records[len(tx.Actions.Adds)]
		tx.Actions.Removes = append(tx.Actions.Removes, commitlog.Remove{Path: add.Path, DeletionTimestamp: 1, DataChange: true})
		add.DataChange = true
		rows := []int64{int64(r.IntN(int(record.NumRows())))}
		body := encodeVector(rows, false)
		offset := int32(len(store.objects[vectors]))
		file := binary.BigEndian.AppendUint32(store.objects[vectors], uint32(len(body)))
		file = append(file, body...)
		store.objects[vectors] = binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE(body))
		add.DeletionVector = &commitlog.DeletionVector{StorageType: "u", PathOrInlineDv: "ab^-aqEH.-t@S}K{vb[*k^", Offset: &offset, SizeInBytes: int32(len(body)), Cardinality: 1}
		if add.Stats = foreignStats(t, r, s, record); r.IntN(6) == 0 {
			add.Stats = ""
		}
		tx.Actions.Adds = append(tx.Actions.Adds, add)
	}
	if _, err := tbl.Log().Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
}

// foreignStats are those of a writer that cuts timestamps to milliseconds, ignores NaN, writes decimals by way of a double and
// a float as the shortest number, and leaves out what it likes.
func foreignStats(tb testing.TB, r *rand.Rand, t *schema.Type, record arrow.Record) string {
	tb.Helper()
	low, high, nulls := map[string]any{}, map[string]any{}, map[string]any{}
	var walk func(t *schema.Type, path []string, low, high, nulls map[string]any)
	walk = func(t *schema.Type, path []string, low, high, nulls map[string]any) {
		for _, f := range t.Fields {
			path := append(path[:len(path):len(path)], f.Name)
			if r.IntN(8) == 0 {
				continue
			}
			if f.Type.Kind == schema.Struct {
				l, h, n := map[string]any{}, map[string]any{}, map[string]any{}
				walk(f.Type, path, l, h, n)
				low[f.Name], high[f.Name], nulls[f.Name] = l, h, n
				continue
			}
			var least, most Value
			count := 0
			for i := range int(record.NumRows()) {
				switch v := cellAtOf(record, i, path, f.Type.Scale); {
				case v == nil:
					count++
				case v != v:
				case least == nil:
					least, most = v, v
				default:
					if sortable(v) < sortable(least) {
						least = v
					}
					if sortable(v) > sortable(most) {
						most = v
					}
				}
			}
			nulls[f.Name] = count
			if text, ok := foreignBound(f.Type, least, false); ok {
				low[f.Name] = text
			}
			if text, ok := foreignBound(f.Type, most, true); ok {
				high[f.Name] = text
			}
		}
	}
	walk(t, nil, low, high, nulls)
	b, err := json.Marshal(map[string]any{"numRecords": record.NumRows(), "minValues": low, "maxValues": high, "nullCount": nulls, "tightBounds": false})
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

func cellAtOf(record arrow.Record, row int, path []string, scale int) Value {
	a := record.Column(record.Schema().FieldIndices(path[0])[0])
	if len(path) > 1 {
		s := a.(*array.Struct)
		if s.IsNull(row) {
			return nil
		}
		i, _ := s.DataType().(*arrow.StructType).FieldIdx(path[1])
		a = s.Field(i)
	}
	return valueAt(a, row, scale)
}

func foreignBound(t *schema.Type, v Value, upper bool) (any, bool) {
	number := func(b []byte, ok bool) (any, bool) { return json.RawMessage(b), ok }
	switch t.Kind {
	case schema.Byte, schema.Short, schema.Integer, schema.Long:
		return v, v != nil
	case schema.Float, schema.Double:
		f, ok := v.(float64)
		return number(strconv.AppendFloat(nil, f, 'g', -1, map[schema.Kind]int{schema.Float: 32, schema.Double: 64}[t.Kind]), ok && !math.IsInf(f, 0))
	case schema.Decimal:
		d, ok := v.(Decimal)
		if !ok {
			return nil, false
		}
		f, err := strconv.ParseFloat(string(appendDecimal(nil, d.Unscaled, d.Scale)), 64)
		return number(strconv.AppendFloat(nil, f, 'f', -1, 64), err == nil)
	case schema.Date:
		days, ok := v.(int64)
		b, told := appendDateJSON(nil, days)
		return number(b, ok && told)
	case schema.Timestamp, schema.TimestampNTZ:
		micros, ok := v.(int64)
		b, told := appendTimestampJSON(nil, floorDiv(micros, 1000))
		return number(b, ok && told)
	case schema.String:
		s, ok := v.(string)
		if !ok {
			return nil, false
		}
		if upper {
			return maxPrefix([]byte(s), 8)
		}
		return minPrefix([]byte(s), 8)
	}
	return nil, false
}

func TestPredicatesAreChecked(t *testing.T) {
	s := schema.StructOf(schema.Field{Name: "s", Type: schema.StructOf(schema.Field{Name: "x", Type: schema.Of(schema.Long)})})
	one := []Value{int64(1)}
	x := []string{"s", "x"}
	good := &Predicate{Op: Less, Column: x, Values: one}
	for _, p := range []*Predicate{
		{},
		{Op: Equal, Column: []string{"y"}, Values: one},
		{Op: Equal, Column: []string{"s", "y"}, Values: one},
		{Op: Equal, Column: []string{"s", "x", "y"}, Values: one},
		{Op: Equal, Column: []string{"s"}, Values: one},
		{Op: Equal, Column: x, Values: []Value{"1"}},
		{Op: Equal, Column: x, Values: []Value{1}},
		{Op: Equal, Column: x},
		{Op: Equal, Column: x, Values: []Value{int64(1), int64(2)}},
		{Op: "~", Column: x, Values: one},
		{Op: Not, Of: []*Predicate{good, good}},
		{Op: And},
		{Op: Or, Of: []*Predicate{good, {Op: In, Column: x, Values: []Value{2.5}}}},
	} {
		if p.check(s) == nil {
			t.Errorf("%+v is let in", p)
		}
	}
	for _, p := range []*Predicate{good, {Op: IsNull, Column: []string{"s"}}, {Op: In, Column: x}, {Op: Equal, Column: x, Values: []Value{nil}}} {
		if err := p.check(s); err != nil {
			t.Error(err)
		}
	}
}

// TestTruths holds the operators on sets against each pair of single truths.
func TestTruths(t *testing.T) {
	single := []truths{isFalse, isUnknown, isTrue} // in the order of their strength in OR
	for a := truths(1); a <= anyTruth; a++ {
		for b := truths(1); b <= anyTruth; b++ {
			var and, or truths
			for i, x := range single {
				for j, y := range single {
					if a&x != 0 && b&y != 0 {
						and |= single[min(i, j)]
						or |= single[max(i, j)]
					}
				}
			}
			if a.and(b) != and || a.or(b) != or {
				t.Errorf("%03b, %03b: and %03b, or %03b", a, b, a.and(b), a.or(b))
			}
		}
	}
	if isTrue.not() != isFalse || isFalse.not() != isTrue || isUnknown.not() != isUnknown {
		t.Error("not")
	}
}
