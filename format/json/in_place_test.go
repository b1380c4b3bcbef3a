package json_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/format/json"
	"github.com/sluicedata/sluice/source"
)

// behind are the bytes that let a record be read where it came: the ends of lines, and what Kafka has behind a value without headers.
const behind = "\n\r\x00"

// readInPlace decodes a record that stands in front of others in memory, and one that stands alone, by decoders that have seen the same.
func readInPlace(t *testing.T, among, alone *json.Decoder, record, others []byte) {
	t.Helper()
	memory := slices.Concat(record, others, make([]byte, 32)) // as many as a scanner may read behind a record
	rows, bad := decode(t, among, valueBlock(memory[:len(record)]))
	wantRows, wantBad := decode(t, alone, valueBlock(slices.Clip(slices.Clone(record))))
	if !slices.Equal(rows, wantRows) || cmp.Diff(bad, wantBad) != "" {
		t.Fatalf("%q gives %q %v in front of %q, %q %v alone", record, rows, bad, others, wantRows, wantBad)
	}
}

func valueBlock(value []byte) *source.Block {
	return &source.Block{Partition: "p", Values: [][]byte{value}, Positions: []int64{1}}
}

// TestARecordEndsWhereItEnds cuts records short in front of what they lack.
func TestARecordEndsWhereItEnds(t *testing.T) {
	among, alone := trainedDecoder(t), trainedDecoder(t)
	for _, r := range append(trained, `{"id": 7, "o": {"a": 1, "b": [ {"x": 12345678.5}, {"y": "2024-05-01T10:40:00.125Z"} ], "c": "a\u00e9\ud83d\ude00"}}`, "{\"id\":\n5,\n\"o\":\r{\"a\":\n1}\n}", ` 12 `, `"\n"`, `[true, null]`) {
		for n := len(r); n >= 0; n-- { // all of it first, so that its spelling is expected
			readInPlace(t, among, alone, []byte(r[:n]), []byte(r[n:]))
			for _, c := range []byte(behind + " x") {
				readInPlace(t, among, alone, []byte(r[:n]), append([]byte{c}, r[n:]...))
			}
		}
	}
}

// FuzzInPlace fuzzes what stands behind a record as well.
func FuzzInPlace(f *testing.F) {
	for _, r := range trained {
		f.Add([]byte(r), []byte("\n"+r))
		f.Add([]byte(r[:20]), []byte("\x00"+r[20:]))
		f.Add([]byte(r[:40]+" "), []byte("\r\n"+r[40:]))
	}
	f.Fuzz(func(t *testing.T, record, others []byte) {
		among, alone := trainedDecoder(t), trainedDecoder(t)
		readInPlace(t, among, alone, record, others)
		readInPlace(t, among, alone, record, others) // with what was learned from it
	})
}
