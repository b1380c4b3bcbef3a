package commitlog

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/internal/seqtest"
	"github.com/sluicedata/sluice/storage"
)

const theCheckpoint = "00000000000000000001.checkpoint.parquet"

// withStats are rows of files of which each has its own statistics.
func withStats(from, n int) (rows []cpRow) {
	for i := from; i < from+n; i++ {
		stats := fmt.Sprintf(`{"numRecords":%d,"minValues":{"x":%q}}`, i, strings.Repeat("x", 1000))
		rows = append(rows, cpRow{Add: &cpAdd{Path: fmt.Sprint("f", i), PartitionValues: map[string]*string{}, Size: 10, ModificationTime: 1, Stats: &stats}})
	}
	return rows
}

func TestStatisticsAreReadWhenAskedFor(t *testing.T) {
	s := newMemStore()
	s.put(theCheckpoint, cpPages(t, 1<<14, cpHead(), withStats(0, 200), withStats(200, 200)))
	s.write(2, `{"remove":{"path":"f7","dataChange":true}}`, lineAdd("g"))
	reads := 0
	s.onRead = func(n int) error { reads += n; return nil }
	state, err := New(s).Files(t.Context(), -1)
	if err != nil {
		t.Fatal(err)
	}
	opening := reads
	reads = 0
	for i, a := range seqtest.All(t, state.Files.All(t.Context())) {
		n := i
		if i >= 7 {
			n++
		}
		if want := fmt.Sprintf(`{"numRecords":%d,`, n); n < 400 && !strings.HasPrefix(a.Stats, want) || n == 400 && a.Path != "g" {
			t.Fatalf("file %d is %+v", i, a)
		}
	}
	if opening > reads/5 {
		t.Errorf("%d bytes are read to open, %d for the statistics", opening, reads)
	}
	other := newFiles(nil)
	for k := range state.Files.Keys() {
		if k.Path != "f390" && k.Path != "g" {
			other.insert([]byte(k.Path), nil)
		}
	}
	reads = 0
	var found []string
	for a, err := range state.Files.Without(t.Context(), other) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, a.Path+" "+a.Stats[:min(len(a.Stats), 17)])
	}
	if diff := cmp.Diff([]string{`f390 {"numRecords":390`, "g "}, found); diff != "" {
		t.Error(diff)
	}
	whole := 0
	s.onRead = func(n int) error { whole += n; return nil }
	seqtest.All(t, state.Files.All(t.Context()))
	if reads > whole*3/4 {
		t.Errorf("%d bytes are read for one file of one row group, %d for all", reads, whole)
	}
}

// TestStatisticsFollowTheirFiles holds a log checkpoint and many commits behind it against a plain list.
func TestStatisticsFollowTheirFiles(t *testing.T) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 7))
		l, plain := New(newMemStore()), plainFiles{}
		groups := [][]cpRow{cpHead()}
		for range 3 {
			var rows []cpRow
			for range 1 + r.IntN(200) {
				a := randomAdd(r, 100_000)
				if slices.ContainsFunc(plain, func(b Add) bool { return b.Path == a.Path }) {
					continue
				}
				plain.add(a)
				rows = append(rows, cpRow{Add: cpAddOf(&a)})
				if r.IntN(3) == 0 {
					rows = append(rows, cpRow{Remove: &cpRemove{Path: "gone"}})
				}
			}
			groups = append(groups, rows)
		}
		l.store.(*memStore).put(theCheckpoint, cpBytes(t, groups...))
		state := l.newState()
		if err := (&checkpointReader{log: l, state: state, files: true}).read(t.Context(), &checkpoint{1, []string{logDir + theCheckpoint}}); err != nil {
			t.Fatal(err)
		}
		first := slices.Clone(plain)
		for range 10_000 {
			a := randomAdd(r, 50)
			if r.IntN(20) == 0 {
				a = first[r.IntN(len(first))]
			}
			if r.IntN(3) == 0 {
				state.Files.remove([]byte(a.Path), a.DeletionVector.ID())
				plain.remove(a.Key())
			} else {
				state.Files.add(asAction(&a))
				plain.add(a)
			}
		}
		if n := state.Files.rows.n; n > uint32(2*len(plain)+len(first)+5000) {
			t.Errorf("%d rows for %d files", n, len(plain))
		}
		if diff := cmp.Diff([]Add(plain), seqtest.All(t, state.Files.All(t.Context()))); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}

func cpAddOf(a *Add) *cpAdd {
	row := &cpAdd{
		Path: a.Path, PartitionValues: a.PartitionValues, Size: a.Size, ModificationTime: a.ModificationTime, Tags: a.Tags,
		BaseRowID: a.BaseRowID, RowVersion: a.DefaultRowCommitVersion,
	}
	if a.Stats != "" {
		row.Stats = &a.Stats
	}
	if a.ClusteringProvider != "" {
		row.Clustering = &a.ClusteringProvider
	}
	if v := a.DeletionVector; v != nil {
		row.DV = &cpDV{v.StorageType, v.PathOrInlineDv, v.Offset, v.SizeInBytes, v.Cardinality}
	}
	return row
}

// TestStatisticsThatCannotBeReadAreAnError changes the log checkpoint of a table that is open.
func TestStatisticsThatCannotBeReadAreAnError(t *testing.T) {
	down := errors.New("down")
	whole := cpBytes(t, cpHead(), withStats(0, 200))
	for name, tt := range map[string]struct {
		change func(*memStore)
		is     func(error) bool
		says   string
	}{
		"deleted": {
			func(s *memStore) { delete(s.objects, logDir+theCheckpoint) },
			func(err error) bool { return errors.Is(err, storage.ErrNotExist) },
			"the log checkpoint of version 1 has been deleted since the table was opened; open the table again",
		},
		"of other files": {
			func(s *memStore) { s.put(theCheckpoint, cpBytes(t, cpHead(), withStats(1, 200))) },
			func(err error) bool { return errors.Is(err, errReplaced) }, "open the table again",
		},
		"of fewer files": {
			func(s *memStore) { s.put(theCheckpoint, cpBytes(t, cpHead(), withStats(0, 199))) },
			func(err error) bool { return errors.Is(err, errReplaced) }, "open the table again",
		},
		"of fewer row groups": {
			func(s *memStore) { s.put(theCheckpoint, cpBytes(t, cpHead())) },
			func(err error) bool { return errors.Is(err, errReplaced) }, "open the table again",
		},
		"of no Parquet": {
			func(s *memStore) { s.put(theCheckpoint, whole[:2000]) },
			func(err error) bool { return errors.As(err, new(*CorruptError)) }, logDir + theCheckpoint,
		},
		"storage down": {
			func(s *memStore) { s.onRead = func(int) error { return &storage.Error{Op: "read", Err: down} } },
			func(err error) bool { return errors.Is(err, down) && !errors.As(err, new(*CorruptError)) }, "down",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newMemStore()
			s.put(theCheckpoint, whole)
			state, err := New(s).Files(t.Context(), -1)
			if err != nil {
				t.Fatal(err)
			}
			tt.change(s)
			for a, err := range state.Files.All(t.Context()) {
				if err == nil {
					if a.Stats == "" {
						t.Fatalf("%s without its statistics", a.Path)
					}
					continue
				}
				if !tt.is(err) || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("got %v", err)
				}
				return
			}
			t.Error("no error")
		})
	}
}

// TestDamagedStatisticsAreFoundBeforeCommitsAreDeleted damages nothing but the statistics of a log checkpoint.
func TestDamagedStatisticsAreFoundBeforeCommitsAreDeleted(t *testing.T) {
	d := newDaily(lineProtocol, days3, 11, 2)
	head := cpHead()
	head[1].MetaData.Configuration = map[string]string{"delta.logRetentionDuration": "interval 3 days", "delta.deletedFileRetentionDuration": "interval 0 days"}
	whole := cpPages(t, 1<<12, head, withStats(0, 200))
	pages := strings.Index(whole, `{"numRecords":`)
	if pages < 0 {
		t.Fatal("the statistics are not to be found")
	}
	broken := []byte(whole)
	for i := pages - 60; i < pages; i++ { // levels, lengths and the page's header
		broken[i] = 0xff
	}
	d.file("00000000000000000004.checkpoint.parquet", 4, string(broken))
	if _, err := New(d.memStore).Files(t.Context(), 4); err != nil {
		t.Fatalf("it opens: %v", err)
	}
	if c := d.plan(t, on(10)); c.From != 2 || len(c.Damaged) != 1 {
		t.Errorf("from %d, %q, damaged %q", c.From, c.Why, c.Damaged)
	}
	var faults []string
	if err := New(d.memStore).Verify(context.Background(), func(f LogFault) { faults = append(faults, f.Key) }); err != nil || !slices.Contains(faults, logDir+"00000000000000000004.checkpoint.parquet") {
		t.Errorf("faults of %q, %v", faults, err)
	}
}
