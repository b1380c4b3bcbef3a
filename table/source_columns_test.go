package table

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/sluicedata/sluice/internal/parquettest"
	"github.com/sluicedata/sluice/schema"
)

// exact is how large numbers may be that JSON's readers do not round.
const exact = 1 << 53

// shapes is a row of every shape of column, in every encoding that there is.
type shapes struct {
	Plain   int64            `json:"plain" parquet:"plain"`
	Delta   int64            `json:"delta" parquet:"delta,delta"`
	Split   float64          `json:"split" parquet:"split,split"`
	Coded   int32            `json:"coded" parquet:"coded,dict"`
	Flag    *bool            `json:"flag" parquet:"flag,optional"`
	Few     *string          `json:"few" parquet:"few,optional,dict"`
	Many    string           `json:"many" parquet:"many,dict"`
	Text    *string          `json:"text" parquet:"text,optional,plain"`
	Lengths string           `json:"lengths" parquet:"lengths,delta"`
	Maybe   *int64           `json:"maybe" parquet:"maybe,optional"`
	Never   *float64         `json:"never" parquet:"never,optional"`
	Inside  *inside          `json:"inside" parquet:"inside,optional"`
	Texts   []string         `json:"texts" parquet:"texts,list,dict"`
	Lists   [][]int32        `json:"lists" parquet:"lists,list"`
	Of      []inside         `json:"of" parquet:"of,list"`
	Counts  map[string]int64 `json:"-" parquet:"counts"`
	Pairs   []pair           `json:"counts" parquet:"-"`
}

type pair struct {
	Key   string `json:"key"`
	Value int64  `json:"value"`
}

type inside struct {
	Number *int32   `json:"number" parquet:"number,optional"`
	Name   string   `json:"name" parquet:"name,dict"`
	Tags   []string `json:"tags" parquet:"tags,list"`
}

const shapesDDL = "plain:long,delta:long,split:double,coded:int,flag:boolean,few:string,many:string,text:string,lengths:string,maybe:long,never:double," +
	"inside:struct<number:int,name:string,tags:array<string>>,texts:array<string>,lists:array<array<int>>," +
	"of:array<struct<number:int,name:string,tags:array<string>>>,counts:map<string,long>"

func shapesOf(r *rand.Rand, n int) []shapes {
	text := func(of int) string { return strings.Repeat("é", r.IntN(4)) + fmt.Sprint(r.IntN(of)) }
	one := func() inside {
		in := inside{Name: text(5), Tags: []string{}}
		if r.IntN(3) > 0 {
			in.Number = new(r.Int32())
		}
		for range r.IntN(3) {
			in.Tags = append(in.Tags, text(1000))
		}
		return in
	}
	rows := make([]shapes, n)
	for i := range rows {
		s := shapes{
			Plain: r.Int64N(exact), Delta: int64(i), Split: r.Float64(), Coded: r.Int32N(7), Many: text(1 << 30), Lengths: text(1 << 20),
			Texts: []string{}, Lists: [][]int32{}, Of: []inside{}, Pairs: []pair{},
		}
		if r.IntN(2) > 0 {
			s.Flag, s.Few, s.Maybe = new(r.IntN(2) > 0), new(text(9)), new(r.Int64N(exact))
		}
		if r.IntN(4) > 0 {
			s.Text, s.Inside = new(text(100)), new(one())
		}
		for range r.IntN(4) {
			s.Texts, s.Of = append(s.Texts, text(20)), append(s.Of, one())
			list := []int32{}
			for range r.IntN(3) {
				list = append(list, r.Int32())
			}
			s.Lists = append(s.Lists, list)
		}
		if r.IntN(2) > 0 {
			key, value := text(50), r.Int64N(exact)
			s.Counts, s.Pairs = map[string]int64{key: value}, []pair{{key, value}}
		}
		rows[i] = s
	}
	return rows
}

// TestColumnsHoldTheRowsThatWereWritten reads what parquet-go has written, with rows left out here and there.
func TestColumnsHoldTheRowsThatWereWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	s := parseSchema(t, shapesDDL)
	for _, n := range []int{0, 1, 8, 3000} {
		rows := shapesOf(r, n)
		want := shapeTexts(t, s, rows)
		for version := 1; version <= 2; version++ {
			var file bytes.Buffer
			if err := parquet.Write(&file, rows, parquet.DataPageVersion(version), parquet.PageBufferSize(3000), parquet.MaxRowsPerRowGroup(1700), parquet.Compression(&parquet.Snappy)); err != nil {
				t.Fatal(err)
			}
			for _, deleted := range []int{0, 2, 40, 1} { // one row of so many
				vector := make(deletionVector, (n+63)/64)
				var left []string
				for i := range n {
					if deleted > 0 && r.IntN(deleted) == 0 {
						vector[i/64] |= 1 << (i % 64)
					} else {
						left = append(left, want[i])
					}
				}
				for _, dictionaries := range []bool{false, true} {
					got, err := columnTexts(t.Context(), file.Bytes(), s, vector, dictionaries)
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(left, got); diff != "" {
						t.Fatalf("%d rows, pages of version %d, one of %d deleted, dictionaries %v: %.2000s", n, version, deleted, dictionaries, diff)
					}
				}
			}
		}
	}
}

// TestDamagedColumnsAreReadOrRefused changes some bytes of a file.
func TestDamagedColumnsAreReadOrRefused(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	s := parseSchema(t, shapesDDL)
	good := parquettest.WithoutChecksums(t, shapesFile(t, r))
	for range 500 {
		bad := bytes.Clone(good)
		for range 1 + r.IntN(3) {
			bad[r.IntN(len(bad))] = byte(r.IntN(256))
		}
		_, _ = columnTexts(t.Context(), bad, s, nil, r.IntN(2) > 0)
	}
}

// FuzzColumns holds that a file that is damaged is read as another one, or refused.
func FuzzColumns(f *testing.F) {
	s := parseSchema(f, shapesDDL)
	f.Add(parquettest.WithoutChecksums(f, shapesFile(f, rand.New(rand.NewPCG(9, 9)))))
	f.Fuzz(func(t *testing.T, body []byte) { _, _ = columnTexts(t.Context(), body, s, nil, true) })
}

func shapesFile(t testing.TB, r *rand.Rand) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := parquet.Write(&file, shapesOf(r, 30), parquet.PageBufferSize(200)); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func shapeTexts(t *testing.T, s *schema.Type, rows []shapes) []string {
	t.Helper()
	b, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	return rowTexts(record(t, s, string(b)))
}

// columnTexts are a file's rows as texts.
func columnTexts(ctx context.Context, body []byte, s *schema.Type, vector deletionVector, dictionaries bool) (texts []string, err error) {
	err = eachRecord(ctx, body, s, vector, dictionaries, func(r arrow.Record) error {
		texts = append(texts, rowTexts(r)...)
		return nil
	})
	return texts, err
}

// eachRecord hands over the rows of a file that have not been deleted.
func eachRecord(ctx context.Context, body []byte, s *schema.Type, vector deletionVector, dictionaries bool, fn func(arrow.Record) error) error {
	store := newMemStore()
	store.objects["f.parquet"] = body
	r := fileReader{
		file: place{reader: store, key: "f.parquet"}, schema: s, dictionaries: dictionaries, fn: fn,
		deleted: func(int64) (deletionVector, error) { return vector, nil },
	}
	return r.read(ctx)
}
