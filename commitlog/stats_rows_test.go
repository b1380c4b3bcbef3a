package commitlog

import (
	"fmt"
	"testing"

	"github.com/sluicedata/sluice/internal/seqtest"
)

func TestRowsOfAFileAreToldWhereverItsStatisticsHaveThem(t *testing.T) {
	for text, want := range map[string]int64{
		``:                                      -1,
		`{}`:                                    -1,
		`{"numRecords":`:                        -1,
		`{"numRecords":}`:                       -1,
		`{"numRecords":-3}`:                     -1,
		`{"numRecords":1.5}`:                    -1,
		`{"numRecords":0}`:                      0,
		`{"numRecords":17,"minValues":{"a":1}}`: 17,
		`{ "numRecords" : 17 }`:                 17,
		`{"minValues":{"a":"}"},"numRecords":17}`:  17,
		`{"numRecords":9223372036854775807}`:       9223372036854775807,
		`{"numRecords":9223372036854775808}`:       -1,
		`{"numRecords":null,"nullCount":{"a":17}}`: -1,
	} {
		if got := RowsOf(text, nil); got != want {
			t.Errorf("%s: %d rows, want %d", text, got, want)
		}
		if got := RowsOf([]byte(text), nil); got != want {
			t.Errorf("%s: %d rows as bytes, want %d", text, got, want)
		}
		if got := RowsOf(text, &DeletionVector{Cardinality: 5}); want >= 5 && got != want-5 {
			t.Errorf("%s: %d rows are left of %d", text, got, want)
		}
	}
}

// withForms are rows of files that have their statistics as a text, in a struct, in both or not at all, as told by their names.
func withForms(names ...string) (rows []cpRow) {
	for i, name := range names {
		add := &cpAdd{Path: fmt.Sprint(name, i), PartitionValues: map[string]*string{}, Size: 10, ModificationTime: 1}
		if text := fmt.Sprintf(`{"numRecords":%d}`, 1+i); name == "text" || name == "both" {
			add.Stats = &text
		}
		if name == "struct" || name == "both" {
			add.Parsed = &cpStats{NumRecords: int64(1 + i), NullCount: &cpNulls{new(int64)}}
		}
		rows = append(rows, cpRow{Add: add})
	}
	return rows
}

// TestRowsAreTheSumOfThoseOfTheFiles compares with the statistics of each file, whatever form they have.
func TestRowsAreTheSumOfThoseOfTheFiles(t *testing.T) {
	gone := cpRow{Remove: &cpRemove{Path: "gone"}}
	for name, groups := range map[string][][]cpRow{
		"texts":            {withForms("text", "text"), withForms("text")},
		"structs":          {withForms("struct", "struct"), {gone}, withForms("struct")},
		"both":             {append(append(withForms("both", "both"), gone), withForms("both")...)},
		"now one, now two": {append(append(withForms("text", "struct", "struct", "both"), gone), withForms("text", "both", "struct", "text")...)},
		"one has none":     {withForms("text", "struct", "none", "both")},
		"none":             {withForms("none")},
		"no files":         {},
	} {
		s := newMemStore()
		s.put(theCheckpoint, cpBytes(t, append(groups, cpHead())...))
		s.write(2, `{"remove":{"path":"struct1","dataChange":true}}`, `{"remove":{"path":"text0","dataChange":true}}`)
		s.write(3, `{"add":{"path":"g","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true,"stats":"{\"numRecords\":100}",`+
			`"deletionVector":{"storageType":"u","pathOrInlineDv":"x","sizeInBytes":1,"cardinality":30}}}`)
		state, err := New(s).Files(t.Context(), -1)
		if err != nil {
			t.Fatal(err)
		}
		want := int64(0)
		for _, a := range seqtest.All(t, state.Files.All(t.Context())) {
			rows := RowsOf(a.Stats, a.DeletionVector)
			if rows < 0 {
				want = -1
				break
			}
			want += rows
		}
		if got, err := state.Files.Rows(t.Context()); got != want || err != nil {
			t.Errorf("%s: %d rows, want %d, %v", name, got, want, err)
		}
	}
}

func TestRowsAreReadOfAStructWithoutTheRest(t *testing.T) {
	rows := withStats(0, 400)
	for i := range rows {
		rows[i].Add.Parsed = &cpStats{NumRecords: int64(1 + i)}
	}
	s := newMemStore()
	s.put(theCheckpoint, cpPages(t, 1<<12, cpHead(), rows))
	state, err := New(s).Files(t.Context(), -1)
	if err != nil {
		t.Fatal(err)
	}
	lean, whole := 0, 0
	s.onRead = func(n int) error { lean += n; return nil }
	if n, err := state.Files.Rows(t.Context()); n != 400*401/2 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
	s.onRead = func(n int) error { whole += n; return nil }
	seqtest.All(t, state.Files.All(t.Context()))
	if lean > whole/2 {
		t.Errorf("%d bytes are read for the sum, %d for all statistics", lean, whole)
	}
}
