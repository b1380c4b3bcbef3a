package batch

import (
	"errors"
	"strings"
	"testing"
)

// commits renders the view of versions, one for each record.
func commits(records ...*Record) []CommitView {
	var views []CommitView
	for i, r := range records {
		text, _ := r.Metadata()
		views = append(views, CommitView{
			Version: int64(i), Batch: r.Batch, HasBatch: true, UserMetadata: text,
			Added: []AddedFile{{Path: "part-" + string(rune('a'+i)), Rows: r.Rows}},
		})
	}
	return views
}

func record(since, batch int64) *Record {
	return &Record{App: "p", Batch: batch, Since: since, Ranges: rangeOf(since, batch), Rows: 10}
}

func TestAuditFindsTheCulprit(t *testing.T) {
	ok := func() []CommitView { return commits(record(0, 0), record(1, 3), record(4, 4)) }
	tests := map[string]struct {
		views []CommitView
		fault string // empty: none
		at    int64  // version
	}{
		"every range once": {ok(), "", 0},
		"foreign commits between": {append(ok()[:2:2], CommitView{Version: 2, Added: []AddedFile{{Path: "theirs", Rows: -1}}}, func() CommitView {
			v := ok()[2]
			v.Version = 3
			return v
		}()), "", 0},
		"another pipeline's batches": {append(ok(), func() CommitView {
			r := record(0, 0)
			r.App = "q"
			v := commits(r)[0]
			v.Version, v.HasBatch, v.Added[0].Path = 3, false, "q"
			return v
		}()), "", 0},
		"a range twice":          {commits(record(0, 0), func() *Record { r := record(1, 1); r.Ranges = rangeOf(0, 1); return r }()), "committed twice from 0 to 10", 1},
		"a gap":                  {commits(record(0, 0), func() *Record { r := record(1, 1); r.Ranges = rangeOf(2, 2); return r }()), "t/0 from 10 to 20 was never committed", 1},
		"a batch left out":       {commits(record(0, 0), func() *Record { r := record(2, 2); r.Ranges = rangeOf(1, 1); return r }()), "the one before ended with batch 0", 1},
		"a batch repeated":       {commits(record(0, 0), record(0, 0)), "the one before ended with batch 0", 1},
		"a file added twice":     {func() []CommitView { v := ok(); v[2].Added[0].Path = v[0].Added[0].Path; return v }(), "was added by version 0 already", 2},
		"a file that comes back": {append(ok(), CommitView{Version: 3, Removed: []string{ok()[0].Added[0].Path}}, CommitView{Version: 4, Added: ok()[0].Added}), "", 0},
		"a file added twice behind one that came back": {append(ok(), CommitView{Version: 3, Removed: []string{ok()[0].Added[0].Path}}, CommitView{Version: 4, Added: ok()[0].Added},
			CommitView{Version: 5, Added: ok()[0].Added}), "was added by version 4 already", 5},
		"rows miscounted":          {func() []CommitView { v := ok(); v[1].Added[0].Rows = 9; return v }(), "counts 10 rows, the files hold 9", 1},
		"a record without its txn": {func() []CommitView { v := ok(); v[1].HasBatch = false; return v }(), "no txn action", 1},
		"a txn without a record":   {func() []CommitView { v := ok(); v[1].UserMetadata = "x"; return v }(), "no record of its ranges", 1},
		"txn and record differ":    {func() []CommitView { v := ok(); v[2].Batch = 5; return v }(), "txn action says batch 5", 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := NewAudit("p")
			for _, v := range test.views {
				a.Commit(v)
			}
			err := a.Err()
			if test.fault == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var found *AuditError
			if !errors.As(err, &found) {
				t.Fatalf("audit says %v", err)
			}
			if f := a.Faults[0]; f.Version != test.at || !strings.Contains(f.Problem, test.fault) {
				t.Errorf("version %d: %s; want version %d: %s", f.Version, f.Problem, test.at, test.fault)
			}
		})
	}
}

func TestAuditCountsAFileReadTwiceAsTwice(t *testing.T) {
	read := func(batch int64, id string) *Record {
		r := record(batch, batch)
		r.Ranges = rangeOf(0, 9)
		r.Ranges[0].Partition, r.Ranges[0].ID = "in/a.json", id
		return r
	}
	again := NewAudit("p")
	for _, v := range commits(read(0, "1"), read(1, "1")) {
		again.Commit(v)
	}
	if again.Err() == nil {
		t.Error("the same file twice passed")
	}
	rewritten := NewAudit("p")
	for _, v := range commits(read(0, "1"), read(1, "2")) {
		rewritten.Commit(v)
	}
	if err := rewritten.Err(); err != nil {
		t.Errorf("a file that was rewritten and reprocessed: %v", err)
	}
}
