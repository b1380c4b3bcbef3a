package commitlog

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/internal/seqtest"
)

// plainFiles is a list of files as simple as can be.
type plainFiles []Add

func (f *plainFiles) add(a Add) {
	f.remove(a.Key())
	a.DataChange = false
	*f = append(*f, a)
}

func (f *plainFiles) remove(k FileKey) {
	*f = slices.DeleteFunc(*f, func(a Add) bool { return a.Key() == k })
}

// TestFilesAreThoseOfAPlainList holds the compact store against a plain list, through many adds and removes.
func TestFilesAreThoseOfAPlainList(t *testing.T) {
	for seed := range uint64(2) {
		r := rand.New(rand.NewPCG(seed, 6))
		files, plain := newFiles(nil), plainFiles{}
		if seed%2 == 0 {
			files.dirs.limit = 3
		}
		names := 2 + r.IntN(60)
		for range 10_000 {
			a := randomAdd(r, names)
			if r.IntN(3) == 0 {
				files.remove([]byte(a.Path), a.DeletionVector.ID())
				plain.remove(a.Key())
			} else {
				files.add(asAction(&a))
				plain.add(a)
			}
		}
		if int(files.rows.n) > 2*files.live+5000 {
			t.Errorf("%d rows for %d files", files.rows.n, files.live)
		}
		files.seal()
		if diff := cmp.Diff([]Add(plain), seqtest.All(t, files.All(t.Context()))); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
		var keys []FileKey
		size := int64(0)
		for i := range plain {
			keys = append(keys, plain[i].Key())
			size += plain[i].Size
		}
		if diff := cmp.Diff(keys, slices.Collect(files.Keys())); diff != "" || files.Len() != len(plain) || files.Bytes() != size {
			t.Fatalf("seed %d: %d files, %d bytes; %s", seed, files.Len(), files.Bytes(), diff)
		}
	}
}

// asAction is an add as a commit's parser has it.
func asAction(a *Add) *fileAction {
	action := &fileAction{
		path: []byte(a.Path), values: []byte{}, size: a.Size, time: a.ModificationTime, stats: []byte(a.Stats),
		tags: a.Tags, vector: a.DeletionVector, base: a.BaseRowID, since: a.DefaultRowCommitVersion, clustering: a.ClusteringProvider,
	}
	for name, value := range a.PartitionValues {
		if value != nil {
			action.values = appendTupleValue(action.values, []byte(name), []byte(*value), true)
		} else {
			action.values = appendTupleValue(action.values, []byte(name), nil, false)
		}
	}
	return action
}

func randomAdd(r *rand.Rand, names int) Add {
	n := r.IntN(names)
	a := Add{Path: fmt.Sprintf("p=%d/%d.parquet", n%7, n), PartitionValues: map[string]*string{"p": nil, "": nil}, Size: r.Int64N(1000), ModificationTime: r.Int64N(9)}
	if n%4 == 3 { // absolute, in any of its spellings
		a.Path = []string{"", "file:", "file://"}[r.IntN(3)] + "/root/" + a.Path
	}
	value := strings.Repeat("é", n%3)
	if n%2 == 0 {
		a.PartitionValues["p"] = &value
	}
	if n%11 == 0 {
		a.Path = fmt.Sprint(n)
	}
	if n == 1 && r.IntN(50) == 0 {
		a.Path = "d/" + strings.Repeat("long", arenaChunk/3)
	}
	if r.IntN(4) > 0 {
		a.Stats = fmt.Sprintf(`{"numRecords":%d,"x":%q}`, n, strings.Repeat("x", r.IntN(200)))
	}
	if n%5 == 0 {
		a.DeletionVector = &DeletionVector{StorageType: "u", PathOrInlineDv: fmt.Sprint(r.IntN(2)), SizeInBytes: 1, Cardinality: 1}
	}
	if n%13 == 0 {
		a.Tags = map[string]string{"k": fmt.Sprint(n)}
		a.ClusteringProvider = "liquid"
	}
	if row := int64(n); n%3 == 0 {
		a.BaseRowID, a.DefaultRowCommitVersion = &row, &row
	}
	return a
}

// manyFiles writes a log checkpoint of n files as Spark would, with statistics, in row groups of 100,000.
func manyFiles(t testing.TB, n int) *memStore {
	t.Helper()
	s := newMemStore()
	groups := [][]cpRow{cpHead()}
	for (len(groups)-1)*100_000 < n {
		groups = append(groups, nil)
	}
	for i := range n {
		a := bigAdd(i)
		groups[1+i/100_000] = append(groups[1+i/100_000], cpRow{Add: &cpAdd{
			Path: a.Path, PartitionValues: a.PartitionValues, Size: a.Size, ModificationTime: a.ModificationTime, Stats: &a.Stats,
		}})
	}
	s.put("00000000000000000009.checkpoint.parquet", cpBytes(t, groups...))
	s.put("_last_checkpoint", `{"version":9,"size":1}`)
	return s
}

// bigAdd is the i-th file of a large table.
func bigAdd(i int) Add {
	day := fmt.Sprintf("2026-%02d-%02d", 1+i/28%12, 1+i%28)
	return Add{
		Path:            fmt.Sprintf("day=%s/part-%05d-%08x-%04x-4a1e-9b7c-%012x.c000.snappy.parquet", day, i%100_000, i*2654435761%(1<<32), i%65536, i*40503),
		PartitionValues: map[string]*string{"day": &day}, Size: int64(1_000_000 + i), ModificationTime: 1_700_000_000_000 + int64(i)*1000, DataChange: true,
		Stats: fmt.Sprintf(`{"numRecords":%d,"minValues":{"id":%d,"at":"2026-01-01T00:00:%02d.123Z"},"maxValues":{"id":%d,"at":"2026-01-02T00:00:%02d.456Z"},"nullCount":{"id":0,"at":%d}}`,
			1000+i%77, i*1000, i%60, i*1000+999, i%60, i%9),
	}
}

func TestMemoryOfManyFiles(t *testing.T) {
	const n = 20_000
	s := manyFiles(t, n)
	heap := func() int64 {
		runtime.GC()
		runtime.GC() // what the first one only let go of
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	state, err := New(s).Files(t.Context(), -1)
	if err != nil || state.Files.Len() != n {
		t.Fatal(err)
	}
	if each := (heap() - before) / n; each > 250 {
		t.Errorf("a file takes %d bytes", each)
	}
	i := 0
	for _, a := range seqtest.All(t, state.Files.All(t.Context())) {
		want := bigAdd(i)
		if a.Path != want.Path || a.Size != want.Size || a.Stats != want.Stats || *a.PartitionValues["day"] != *want.PartitionValues["day"] {
			t.Fatalf("file %d is %+v", i, a)
		}
		i++
	}
	runtime.KeepAlive(s)
}

func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("checkpoint/%d", n), func(b *testing.B) { benchmarkOpen(b, manyFiles(b, n), n) })
	}
	b.Run("commits/100000", func(b *testing.B) {
		s := newMemStore()
		s.write(0, lineProtocol, lineMetadata)
		for v := range 1000 {
			c := Commit{Version: int64(v + 1), Info: &CommitInfo{TxnID: "t"}}
			for i := range 100 {
				c.Adds = append(c.Adds, bigAdd(100*v+i))
			}
			body, err := c.Render()
			if err != nil {
				b.Fatal(err)
			}
			s.objects[commitKey(int64(v+1))] = body
		}
		benchmarkOpen(b, s, 100_000)
	})
}

func benchmarkOpen(b *testing.B, s *memStore, n int) {
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&before)
		state, err := New(s).Files(b.Context(), -1)
		if err != nil || state.Files.Len() != n {
			b.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(state)
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "heap-MB")
}
