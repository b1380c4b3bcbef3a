package commitlog

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestWhatATransactionCanFollow is the table of conflicts, transaction by winner.
func TestWhatATransactionCanFollow(t *testing.T) {
	size := int64(10)
	rearranged := func(f Add) Add { f.DataChange = false; return f }
	vectored := testAdd("a-0.parquet")
	vectored.DeletionVector = &DeletionVector{StorageType: "i", PathOrInlineDv: "00000", SizeInBytes: 4, Cardinality: 1}
	transactions := map[string]Transaction{
		"blind append":     {Blind: true, Actions: Commit{Adds: []Add{testAdd("new")}}},
		"append that read": {Actions: Commit{Adds: []Add{testAdd("new")}}},
		"compaction": {Actions: Commit{
			Removes: []Remove{{Path: "a-0.parquet", Size: &size}},
			Adds:    []Add{rearranged(testAdd("new"))},
		}},
		"delete":   {Actions: Commit{Removes: []Remove{{Path: "a-0.parquet", DataChange: true, Size: &size}}}},
		"alter":    {Actions: Commit{Metadata: testMetadata()}},
		"txn only": {Blind: true, AppID: "b", Batch: 1},
		"set":      {Actions: Commit{Metadata: testMetadata(), Protocol: &Protocol{MinReaderVersion: 1, MinWriterVersion: 2}}},
		"restore": {Actions: Commit{
			Metadata: testMetadata(), Removes: []Remove{{Path: "a-0.parquet", DataChange: true, Size: &size}}, Adds: []Add{testAdd("old")},
		}},
		"whole": {Whole: true, Actions: Commit{Metadata: testMetadata()}},
		"update with a vector": {Actions: Commit{
			Removes: []Remove{{Path: "a-0.parquet", DataChange: true, Size: &size}}, Adds: []Add{vectored},
		}},
	}
	winners := []struct {
		name  string
		lines []string
		lets  string // the transactions that can follow
	}{
		{"blind append", []string{lineInfo("w"), lineAdd("w")}, "blind append, compaction, alter, set, txn only"},
		{"compaction of the same", []string{lineInfo("w"), strings.ReplaceAll(lineRemove("a-0.parquet"), "true", "false"), strings.ReplaceAll(lineAdd("w"), "true", "false")}, "blind append, alter, set, txn only"},
		{"compaction of others", []string{lineInfo("w"), strings.ReplaceAll(lineRemove("x"), "true", "false"), strings.ReplaceAll(lineAdd("w"), "true", "false")}, "blind append, compaction, alter, set, txn only"},
		{"delete of the same", []string{lineInfo("w"), lineRemove("a-0.parquet")}, "blind append, alter, set, txn only"},
		{"delete of others", []string{lineInfo("w"), lineRemove("x")}, "blind append, compaction, alter, set, txn only"},
		{"append that read", []string{`{"commitInfo":{"isBlindAppend":false,"txnId":"w"}}`, lineAdd("w")}, "blind append, compaction, alter, set, txn only"},
		{"rows of the same deleted by a vector", []string{lineInfo("w"), lineRemove("a-0.parquet"), `{"add":{"path":"a-0.parquet","partitionValues":{},"size":10,"modificationTime":1,"dataChange":true,"deletionVector":{"storageType":"i","pathOrInlineDv":"00000","sizeInBytes":4,"cardinality":1}}}`}, "blind append, alter, set, txn only"},
		{"all overwritten", []string{lineInfo("w"), lineRemove("a-0.parquet"), lineRemove("b"), lineAdd("w")}, "blind append, alter, set, txn only"},
		{"metadata with rows", []string{lineInfo("w"), lineMetadata, lineAdd("w")}, "blind append, txn only"},
		{"another's batch", []string{lineInfo("w"), lineTxn("z", 3)}, "blind append, append that read, compaction, delete, update with a vector, alter, set, restore, whole, txn only"},
		{"metadata", []string{lineInfo("w"), lineMetadata}, "blind append, txn only"},
		{"protocol", []string{lineInfo("w"), `{"protocol":{"minReaderVersion":1,"minWriterVersion":1}}`}, "blind append, txn only"},
		{"a domain", []string{lineInfo("w"), `{"domainMetadata":{"domain":"d","configuration":"{}","removed":false}}`}, "blind append, append that read, compaction, delete, update with a vector, alter, set, restore, txn only"},
		{"nothing", nil, "blind append, append that read, compaction, delete, update with a vector, alter, set, restore, whole, txn only"},
	}
	for _, w := range winners {
		for name, tx := range transactions {
			for _, when := range []string{"at the put", "known before"} {
				t.Run(w.name+"/"+name+"/"+when, func(t *testing.T) {
					s, l := newTable(t)
					tx.Validate = func(*Head) error { return nil }
					commitBehind(t, s, l, when, w.lines, tx, strings.Contains(", "+w.lets+",", ", "+name+","))
				})
			}
		}
	}
}

// commitBehind commits a transaction behind version 1, which another writes "at the put" or which is "known before", and which
// it can follow or not.
func commitBehind(t *testing.T, s *memStore, l *Log, when string, lines []string, tx Transaction, follows bool) {
	t.Helper()
	if when == "at the put" {
		onFirstPut(s, plainly, func() { s.write(1, lines...) })
	} else {
		s.write(1, lines...)
		if _, err := l.Refresh(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	got, err := l.Commit(context.Background(), tx)
	var conflict *ConflictError
	switch {
	case follows && (err != nil || got.Version != 2):
		t.Errorf("refused: %v, %v", got, err)
	case !follows && (!errors.As(err, &conflict) || conflict.Version != 1):
		t.Errorf("got %v, %v", got, err)
	}
}

// TestConflictsKnowAFileByAnySpellingOfItsPath has a winner name the file that a compaction replaces by a path with a scheme.
func TestConflictsKnowAFileByAnySpellingOfItsPath(t *testing.T) {
	size := int64(10)
	tx := Transaction{Actions: Commit{Removes: []Remove{{Path: "/x/a.parquet", Size: &size}}}}
	for path, follows := range map[string]bool{"file:///x/a.parquet": false, "file:/x/a.parquet": false, "/x/a.parquet": false, "file:/x/b.parquet": true} {
		s, l := newTable(t)
		commitBehind(t, s, l, "at the put", []string{lineInfo("w"), lineRemove(path)}, tx, follows)
	}
}

// TestWriteSerializableLetsRowsBeChangedBesideBlindAppends is the part of the table that depends on delta.isolationLevel.
func TestWriteSerializableLetsRowsBeChangedBesideBlindAppends(t *testing.T) {
	size := int64(10)
	remove := []Remove{{Path: "a-0.parquet", DataChange: true, Size: &size}}
	transactions := map[string]Commit{
		"delete":  {Removes: remove},
		"read":    {Adds: []Add{testAdd("new")}},
		"restore": {Removes: remove, Metadata: testMetadata()},
		"whole":   {Removes: remove},
	}
	blind := `{"commitInfo":{"isBlindAppend":true,"txnId":"w"}}`
	for _, w := range []struct {
		name  string
		level string
		lines []string
		lets  string
	}{
		{"blind append", "WriteSerializable", []string{blind, lineAdd("w")}, "delete read"},
		{"blind append, serializable", "Serializable", []string{blind, lineAdd("w")}, ""},
		{"append that does not say", "WriteSerializable", []string{lineInfo("w"), lineAdd("w")}, ""},
		{"append that read", "WriteSerializable", []string{`{"commitInfo":{"isBlindAppend":false,"txnId":"w"}}`, lineAdd("w")}, ""},
		{"removal that calls itself blind", "WriteSerializable", []string{blind, lineRemove("x")}, ""},
	} {
		for name, actions := range transactions {
			for _, when := range []string{"at the put", "known before"} {
				t.Run(w.name+"/"+name+"/"+when, func(t *testing.T) {
					s := newMemStore()
					l := newTestLog(s)
					tx := creating()
					tx.Actions.Metadata.Configuration = map[string]string{"delta.isolationLevel": w.level}
					if _, err := l.Commit(context.Background(), tx); err != nil {
						t.Fatal(err)
					}
					commitBehind(t, s, l, when, w.lines, Transaction{Actions: actions, Whole: name == "whole"}, strings.Contains(w.lets, name))
					if level := s.newest(t).Info.IsolationLevel; strings.Contains(w.lets, name) && level != w.level {
						t.Errorf("the commit says %q", level)
					}
				})
			}
		}
	}
}

func TestBatchOfTheSameApplicationFences(t *testing.T) {
	for _, batch := range []int64{0, 1, 2} {
		s, l := newTable(t)
		onFirstPut(s, plainly, func() { s.write(1, lineInfo("w"), lineTxn("b", batch), lineAdd("w")) })
		_, err := l.Commit(context.Background(), Transaction{Blind: true, AppID: "b", Batch: 1, Actions: Commit{Adds: []Add{testAdd("new")}}})
		var fenced *FencedError
		if is := errors.As(err, &fenced); is != (batch >= 1) || !is && err != nil {
			t.Errorf("behind batch %d: %v", batch, err)
		}
	}
}

func TestValidateSeesTheNewMetadataAndDecides(t *testing.T) {
	other := strings.ReplaceAll(lineMetadata, `\"id\"`, `\"key\"`)
	s, l := newTable(t)
	onFirstPut(s, plainly, func() { s.write(1, lineInfo("w"), other); s.write(2, lineInfo("w2"), lineAdd("w2")) })
	tx := appending(0, 1)
	refusal := errors.New("column id is gone")
	var columns []string
	tx.Validate = func(h *Head) error {
		for _, f := range h.Schema().Fields {
			columns = append(columns, f.Name)
		}
		return refusal
	}
	if _, err := l.Commit(context.Background(), tx); err != refusal {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"key"}, columns); diff != "" {
		t.Error(diff)
	}
	if c := s.newest(t); c.Version != 2 {
		t.Errorf("newest is %d", c.Version)
	}
}

func TestForeignChangeThatForbidsWritingEndsTheCommit(t *testing.T) {
	constrained := strings.Replace(lineMetadata, `"configuration":{}`, `"configuration":{"delta.constraints.c":"id > 0"}`, 1)
	s, l := newTable(t)
	onFirstPut(s, plainly, func() { s.write(1, lineInfo("w"), constrained) })
	tx := appending(0, 1)
	tx.Validate = func(*Head) error { t.Error("asked"); return nil }
	var unsupported *UnsupportedError
	if _, err := l.Commit(context.Background(), tx); !errors.As(err, &unsupported) || unsupported.Features[0] != "checkConstraints" {
		t.Errorf("got %v", err)
	}
	if _, err := l.Commit(context.Background(), appending(1, 1)); !errors.As(err, &unsupported) || unsupported.For != "writing" {
		t.Errorf("the next: %v", err)
	}
}

func TestTransactionsThatContradictThemselvesOrTheTable(t *testing.T) {
	value := "x"
	tests := map[string]func(*Transaction){
		"remove in a blind append":     func(tx *Transaction) { tx.Actions.Removes = []Remove{{Path: "a-0.parquet"}} },
		"txn of another batch":         func(tx *Transaction) { tx.Actions.Txns = []Txn{{AppID: "a", Version: 9}} },
		"the same file twice":          func(tx *Transaction) { tx.Actions.Adds = append(tx.Actions.Adds, tx.Actions.Adds[0]) },
		"a value for no partition":     func(tx *Transaction) { tx.Actions.Adds[0].PartitionValues = map[string]*string{"d": &value} },
		"domain without its feature":   func(tx *Transaction) { tx.Actions.Domains = []DomainMetadata{{Domain: "d"}} },
		"a path that is no text":       func(tx *Transaction) { tx.Actions.Adds[0].Path = "\xff" },
		"read version that nobody has": func(tx *Transaction) { tx.ReadVersion = 7 },
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			s, l := newTable(t)
			tx := appending(0, 1)
			spoil(&tx)
			if got, err := l.Commit(context.Background(), tx); err == nil {
				t.Errorf("committed as %+v", got)
			}
			if c := s.newest(t); c.Version != 0 {
				t.Error("it is in the log")
			}
		})
	}
}

func TestAppendOnlyTableRefusesRemovedRowsOnly(t *testing.T) {
	s := newMemStore()
	l := newTestLog(s)
	tx := creating()
	tx.Actions.Metadata.Configuration = map[string]string{"delta.appendOnly": "true"}
	if _, err := l.Commit(context.Background(), tx); err != nil {
		t.Fatal(err)
	}
	size := int64(10)
	remove := Transaction{Actions: Commit{Removes: []Remove{{Path: "a-0.parquet", DataChange: true, Size: &size}}}}
	if _, err := l.Commit(context.Background(), remove); err == nil || !strings.Contains(err.Error(), "delta.appendOnly") {
		t.Errorf("delete: %v", err)
	}
	remove.Actions.Removes[0].DataChange = false
	if _, err := l.Commit(context.Background(), remove); err != nil {
		t.Errorf("compaction: %v", err)
	}
	if c := s.newest(t); c.Info.IsolationLevel != "SnapshotIsolation" || *c.Info.IsBlindAppend {
		t.Errorf("commitInfo %+v", c.Info)
	}
}

func ictTable(t *testing.T) (*memStore, *Log) {
	t.Helper()
	s := newMemStore()
	l := newTestLog(s)
	tx := creating()
	tx.Actions.Protocol = &Protocol{MinReaderVersion: 1, MinWriterVersion: 7, WriterFeatures: []string{"appendOnly", "invariants", "inCommitTimestamp"}}
	tx.Actions.Metadata.Configuration = map[string]string{"delta.enableInCommitTimestamps": "true"}
	if _, err := l.Commit(context.Background(), tx); err != nil {
		t.Fatal(err)
	}
	return s, l
}

func TestInCommitTimestampsOnlyGrow(t *testing.T) {
	s, l := ictTable(t)
	now := testNow.UnixMilli()
	if ict := s.newest(t).Info.InCommitTimestamp; ict != now {
		t.Errorf("version 0 has %d", ict)
	}
	if _, err := l.Commit(context.Background(), appending(0, 1)); err != nil {
		t.Fatal(err)
	}
	if ict := s.newest(t).Info.InCommitTimestamp; ict != now+1 {
		t.Errorf("version 1, by a clock that stands still, has %d", ict)
	}
	onFirstPut(s, plainly, func() { s.write(2, `{"commitInfo":{"inCommitTimestamp":1800000000000,"txnId":"w"}}`) })
	if _, err := l.Commit(context.Background(), appending(1, 2)); err != nil {
		t.Fatal(err)
	}
	if ict := s.newest(t).Info.InCommitTimestamp; ict != 1800000000001 {
		t.Errorf("version 3, after one of the future, has %d", ict)
	}
	l.now = func() time.Time { return time.UnixMilli(1_900_000_000_000) }
	if _, err := l.Commit(context.Background(), appending(3, 4)); err != nil {
		t.Fatal(err)
	}
	if ict := s.newest(t).Info.InCommitTimestamp; ict != 1_900_000_000_000 {
		t.Errorf("version 4 has %d", ict)
	}
	if again, err := newTestLog(s).Load(context.Background()); err != nil || again.LastICT != l.Head().LastICT {
		t.Errorf("in memory %d, in the log %+v, %v", l.Head().LastICT, again, err)
	}
}

func TestInCommitTimestampsThatCannotBeRightAreRefused(t *testing.T) {
	t.Run("the commit before has none", func(t *testing.T) {
		s, l := ictTable(t)
		onFirstPut(s, plainly, func() { s.write(1, lineInfo("w"), lineAdd("w")) })
		var corrupt *CorruptError
		if _, err := l.Commit(context.Background(), appending(0, 1)); !errors.As(err, &corrupt) || corrupt.Version != 1 {
			t.Errorf("got %v", err)
		}
	})
	t.Run("turned on later", func(t *testing.T) {
		s := newMemStore()
		l := newTestLog(s)
		tx := creating()
		tx.Actions.Protocol = &Protocol{MinReaderVersion: 1, MinWriterVersion: 7, WriterFeatures: []string{"inCommitTimestamp"}}
		if _, err := l.Commit(context.Background(), tx); err != nil {
			t.Fatal(err)
		}
		m := testMetadata()
		m.Configuration = map[string]string{"delta.enableInCommitTimestamps": "true"}
		var unsupported *UnsupportedError
		if _, err := l.Commit(context.Background(), Transaction{Actions: Commit{Metadata: m}}); !errors.As(err, &unsupported) {
			t.Errorf("got %v", err)
		}
	})
}
