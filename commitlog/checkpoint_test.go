package commitlog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/internal/parquettest"
	"github.com/sluicedata/sluice/internal/seqtest"
	"github.com/sluicedata/sluice/storage"
)

// TestSegments is where a version is read from: which log checkpoint, if any, and which commits.
func TestSegments(t *testing.T) {
	const classic = "%020d.checkpoint.parquet"
	const uuid = "80a083e8-7026-4e79-81be-64bd76c43a11"
	// A log of versions 0 to 5, of which each adds one file and a checkpoint has c1 … for those of the commits.
	table := func(versions ...int64) *memStore {
		s := newMemStore()
		for _, v := range versions {
			lines := []string{lineInfo("w"), lineAdd(fmt.Sprint(v))}
			if v == 0 {
				lines = append(lines, lineProtocol, lineMetadata)
			}
			s.write(v, lines...)
		}
		return s
	}
	var names []string
	for v := range 6 {
		names = append(names, fmt.Sprintf("c%d", v))
	}
	whole := func(version int64) string { return cpBytes(t, cpHead(), cpFiles(names[:version+1]...)) }
	at := func(s *memStore, versions ...int64) *memStore {
		for _, v := range versions {
			s.put(fmt.Sprintf(classic, v), whole(v))
		}
		return s
	}
	with := func(s *memStore, name, body string) *memStore {
		s.put(name, body)
		return s
	}
	tests := []struct {
		name    string
		store   *memStore
		version int64
		want    string // files; or the error, behind a !
	}{
		{"no checkpoint", table(0, 1, 2), -1, "0 1 2"},
		{"the newest checkpoint", at(table(0, 1, 2, 3), 1, 2), -1, "c0 c1 c2 3"},
		{"at the checkpoint", at(table(0, 1, 2, 3), 1, 2), 2, "c0 c1 c2"},
		{"before the newest", at(table(0, 1, 2, 3), 0, 3), 2, "c0 1 2"},
		{"before any", at(table(0, 1, 2, 3), 2), 1, "0 1"},
		{"cleaned up", at(table(3, 4), 2), -1, "c0 c1 c2 3 4"},
		{"cleaned up to the last", at(table(), 2), -1, "c0 c1 c2"},
		{"cleaned up, with one left over", at(table(0, 3), 2), -1, "c0 c1 c2 3"},
		{"beyond the last commit", at(table(0, 1), 2), -1, "c0 c1 c2"},
		{"before what was cleaned up", at(table(3, 4), 3), 1, "!no such version: its commits have been cleaned up; the oldest that can be read is 3"},
		{"no such version", at(table(0, 1), 1), 2, "!no such version; the newest is 1"},
		{"no beginning and no checkpoint", table(1, 2), -1, "!00000000000000000000.json: it is missing, and the first commit there is of version 1"},
		{"a hole behind the checkpoint", at(table(0, 1, 3), 1), -1, "!00000000000000000002.json: it is missing, though version 3 is there"},
		{"a hole before the checkpoint", at(table(0, 2, 3), 2), -1, "c0 c1 c2 3"},
		{"an empty checkpoint", with(table(0, 1), fmt.Sprintf(classic, 1), ""), -1, "0 1"},
		{"parts", with(with(table(2), "00000000000000000001.checkpoint.0000000001.0000000002.parquet", cpBytes(t, cpHead(), cpFiles("c0"))),
			"00000000000000000001.checkpoint.0000000002.0000000002.parquet", cpBytes(t, cpFiles("c1"))), -1, "c0 c1 2"},
		{"a part is missing", with(table(0, 1), "00000000000000000001.checkpoint.0000000002.0000000002.parquet", whole(1)), -1, "0 1"},
		{"V2 in Parquet", with(table(2), "00000000000000000001.checkpoint."+uuid+".parquet", whole(1)), -1, "c0 c1 2"},
		{"V2 in JSON", with(table(2), "00000000000000000001.checkpoint."+uuid+".json",
			strings.Join([]string{`{"checkpointMetadata":{"version":1}}`, lineProtocol, lineMetadata, lineAdd("c0")}, "\n")), -1, "c0 2"},
		{"V2 in JSON with sidecars", with(with(table(2), "00000000000000000001.checkpoint."+uuid+".json",
			strings.Join([]string{lineProtocol, lineMetadata, `{"sidecar":{"path":"a.parquet","sizeInBytes":1,"modificationTime":1}}`}, "\n")),
			"_sidecars/a.parquet", cpBytes(t, cpFiles("c0", "c1"))), -1, "c0 c1 2"},
		{"V2 in Parquet with sidecars", with(with(table(2), "00000000000000000001.checkpoint."+uuid+".parquet",
			cpBytes(t, append(cpHead(), cpRow{Sidecar: &cpSidecar{"a.parquet"}}))), "_sidecars/a.parquet", cpBytes(t, cpFiles("c0", "c1"))), -1, "c0 c1 2"},
		{"a damaged one", with(at(table(0, 1, 2, 3), 1), fmt.Sprintf(classic, 2), "PAR1 no, it is not PAR1"), -1, "c0 c1 2 3"},
		{"a damaged one alone", with(table(0, 1), fmt.Sprintf(classic, 1), "PAR1 no, it is not PAR1"), -1, "0 1"},
		{"a damaged one, and the commits cleaned up", with(table(2), fmt.Sprintf(classic, 1), whole(1)[:2000]), -1, "!_delta_log/00000000000000000001.checkpoint.parquet: "},
		{"without protocol", with(table(2), fmt.Sprintf(classic, 1), cpBytes(t, cpHead()[1:])), -1, "!checkpoint.parquet: it has no protocol action"},
		{"without metadata", with(table(2), fmt.Sprintf(classic, 1), cpBytes(t, cpHead()[:1])), -1, "!checkpoint.parquet: it has no metaData action"},
		{"damaged JSON", with(table(2), "00000000000000000001.checkpoint."+uuid+".json", lineProtocol+"{"), -1, "!" + uuid + ".json: line 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, hint := range []string{"", `{"version":1,"size":3}`, `{"version":2,"size":3}`, `{"version":7,"size":3}`, `{"version":-7}`, `{"ver`, `[]`} {
				if tt.store.put("_last_checkpoint", hint); hint == "" {
					delete(tt.store.objects, hintKey)
				}
				got, err := pathsOf(tt.store, tt.version)
				h, headErr := New(tt.store).Load(context.Background())
				if message, fails := strings.CutPrefix(tt.want, "!"); fails {
					if err == nil || !strings.Contains(err.Error(), message) {
						t.Errorf("hint %s: got %s, %v", hint, got, err)
					}
					if tt.version < 0 && fmt.Sprint(headErr) != err.Error() {
						t.Errorf("hint %s: Load: %v", hint, headErr)
					}
					continue
				}
				if err != nil || got != tt.want {
					t.Errorf("hint %s: got %s, %v; want %s", hint, got, err, tt.want)
				}
				if headErr != nil || h.Metadata.ID != "T" || len(h.Schema().Fields) != 1 {
					t.Errorf("hint %s: head %+v, %v", hint, h, headErr)
				}
			}
		})
	}
}

func TestMissingSidecarIsADamagedCheckpoint(t *testing.T) {
	s := newMemStore()
	s.put("00000000000000000001.checkpoint.x.json", strings.Join([]string{lineProtocol, lineMetadata, `{"sidecar":{"path":"a.parquet"}}`}, "\n"))
	if _, err := New(s).Load(context.Background()); err != nil {
		t.Errorf("Load reads no files: %v", err)
	}
	_, err := pathsOf(s, -1)
	if corrupt := (*CorruptError)(nil); !errors.As(err, &corrupt) || corrupt.Key != "_delta_log/_sidecars/a.parquet" || corrupt.Version != 1 {
		t.Errorf("got %v", err)
	}
	s.write(0, lineProtocol, lineMetadata, lineAdd("a"))
	s.write(1, lineAdd("b"))
	if got, err := pathsOf(s, -1); err != nil || got != "a b" {
		t.Errorf("with the commits there: %s, %v", got, err)
	}
}

func TestStorageFailuresAreNoDamage(t *testing.T) {
	s := newMemStore()
	s.write(0, lineProtocol, lineMetadata, lineAdd("a"))
	s.put("00000000000000000000.checkpoint.parquet", cpBytes(t, cpHead(), cpFiles("c")))
	down := errors.New("down")
	for _, name := range []string{"_last_checkpoint", "00000000000000000000.checkpoint.parquet"} {
		s.onGet = func(key string) error {
			if key == logDir+name {
				return down
			}
			return nil
		}
		if got, err := pathsOf(s, -1); !errors.Is(err, down) {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
	}
	s.onGet = nil
	s.onRead = func(int) error { return &storage.Error{Op: "read", Err: down} }
	if got, err := pathsOf(s, -1); !errors.Is(err, down) {
		t.Errorf("got %s, %v", got, err)
	}
}

// TestCheckpointTellsAll compares what a log checkpoint tells with what it was made from.
func TestCheckpointTellsAll(t *testing.T) {
	p := func(n int64) *int64 { return &n }
	str := func(v string) *string { return &v }
	offset := int32(4)
	rows := []cpRow{
		{Protocol: &cpProtocol{3, 7, []string{"deletionVectors"}, []string{"deletionVectors", "domainMetadata"}}},
		{MetaData: &cpMetadata{
			ID: "T", Format: &cpFormat{Provider: "parquet", Options: map[string]string{"o": "1"}},
			SchemaString:     `{"type":"struct","fields":[{"name":"p","type":"string","nullable":true,"metadata":{}},{"name":"i","type":"integer","nullable":true,"metadata":{}}]}`,
			PartitionColumns: []string{"p"}, Configuration: map[string]string{"k": "v"}, CreatedTime: 7,
		}},
		{Txn: &cpTxn{"a", 3, p(9)}},
		{Txn: &cpTxn{"b", 4, nil}},
		{Domain: &cpDomain{"d", "{}", false}},
		{Domain: &cpDomain{"gone", "{}", true}},
		{Remove: &cpRemove{"r"}},
		{Add: &cpAdd{
			Path: "x/a%20b", PartitionValues: map[string]*string{"p": str("1")}, Size: 8, ModificationTime: 2, Tags: map[string]string{"c": "d"},
			DV: &cpDV{"u", "y", &offset, 5, 6}, BaseRowID: p(0), RowVersion: p(2), Clustering: str("liquid"), Stats: str(`{"numRecords":1}`),
		}},
		{Add: &cpAdd{Path: "x/c", PartitionValues: map[string]*string{"p": nil}, Size: 9, ModificationTime: 3}},
		{Add: &cpAdd{Path: "d", PartitionValues: map[string]*string{"p": str("")}, Size: 10, ModificationTime: 4, DV: &cpDV{"i", "z", nil, 1, 1}}},
		{Add: &cpAdd{
			Path: "e", PartitionValues: map[string]*string{"p": str("1")}, Size: 11, ModificationTime: 5,
			Parsed: &cpStats{
				NumRecords: 2, MinValues: &cpBounds{I: &offset, S: str("é\"<"), D: &offset, T: p(1_700_000_000_123_456), N: p(-5), F: new(float64)},
				NullCount: &cpNulls{p(0)}, TightBounds: new(bool),
			},
		}},
		{Add: &cpAdd{Path: "f", PartitionValues: map[string]*string{"p": str("1")}, Size: 11, ModificationTime: 5, Parsed: &cpStats{NumRecords: 3, MinValues: &cpBounds{}}}},
	}
	want := []Add{
		{
			Path: "x/a%20b", PartitionValues: map[string]*string{"p": str("1")}, Size: 8, ModificationTime: 2, Stats: `{"numRecords":1}`,
			Tags: map[string]string{"c": "d"}, DeletionVector: &DeletionVector{"u", "y", &offset, 5, 6},
			BaseRowID: p(0), DefaultRowCommitVersion: p(2), ClusteringProvider: "liquid",
		},
		{Path: "x/c", PartitionValues: map[string]*string{"p": nil}, Size: 9, ModificationTime: 3},
		{Path: "d", PartitionValues: map[string]*string{"p": str("")}, Size: 10, ModificationTime: 4, DeletionVector: &DeletionVector{"i", "z", nil, 1, 1}},
		{
			Path: "e", PartitionValues: map[string]*string{"p": str("1")}, Size: 11, ModificationTime: 5,
			Stats: `{"numRecords":2,"minValues":{"i":4,"s \"q\"":"é\"\u003c","d":"1970-01-05","t":"2023-11-14T22:13:20.123456Z","n":-0.005,"f":0},"nullCount":{"i":0},"tightBounds":false}`,
		},
		{Path: "f", PartitionValues: map[string]*string{"p": str("1")}, Size: 11, ModificationTime: 5, Stats: `{"numRecords":3}`},
	}
	for _, groups := range [][][]cpRow{{rows}, {rows[:8], rows[8:9], rows[9:]}, {rows[:7], rows[7:]}} {
		s := newMemStore()
		s.put("00000000000000000004.checkpoint.parquet", cpBytes(t, groups...))
		state, err := New(s).Files(context.Background(), -1)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, seqtest.All(t, state.Files.All(t.Context()))); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(Protocol{3, 7, []string{"deletionVectors"}, []string{"deletionVectors", "domainMetadata"}}, state.Protocol); diff != "" {
			t.Error(diff)
		}
		m := state.Metadata
		if m.CreatedTime != 7 || m.Configuration["k"] != "v" || m.Format.Options["o"] != "1" || !slices.Equal(m.PartitionColumns, []string{"p"}) {
			t.Errorf("%+v", m)
		}
		if diff := cmp.Diff(map[string]DomainMetadata{"d": {"d", "{}", false}}, state.Domains); diff != "" {
			t.Error(diff)
		}
		apps := map[string]App{"a": {Batch: 3, LastUpdated: 9, Version: -1}, "b": {Batch: 4, Version: -1}}
		if diff := cmp.Diff(apps, state.Apps); diff != "" {
			t.Error(diff)
		}
		if state.Version != 4 || state.Files.Bytes() != 49 {
			t.Errorf("version %d, %d bytes", state.Version, state.Files.Bytes())
		}
	}
}

// TestCommitsAfterACheckpoint is reconciliation across it.
func TestCommitsAfterACheckpoint(t *testing.T) {
	s := newMemStore()
	dv := cpRow{Add: &cpAdd{Path: "v", PartitionValues: map[string]*string{}, Size: 10, DV: &cpDV{"u", "x", new(int32), 40, 2}}}
	*dv.Add.DV.Offset = 1
	s.put("00000000000000000001.checkpoint.parquet", cpBytes(t, cpHead(), cpFiles("a", "b", "c", "b"), []cpRow{dv, {Remove: &cpRemove{"a"}}}))
	s.write(2, lineRemove("a"), lineAdd("c"), withDV(lineRemove("v"), "x"), lineTxn("a", 1))
	s.write(3, lineAdd("a"), lineRemove("v"))
	if got, err := pathsOf(s, -1); err != nil || got != "b c a" {
		t.Errorf("got %s, %v", got, err)
	}
	h, err := New(s).Load(context.Background())
	if err != nil || h.Apps["a"].Version != 2 {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestStartBehindACheckpointIsShort(t *testing.T) {
	s := newMemStore()
	for v := range int64(40) {
		s.write(v, lineInfo("w"), lineAdd(fmt.Sprint(v)))
	}
	s.put("00000000000000000037.checkpoint.parquet", cpBytes(t, cpHead(), cpFiles("c")))
	s.put("_last_checkpoint", `{"version":37,"size":3}`)
	if _, err := New(s).Load(context.Background()); err != nil {
		t.Fatal(err)
	}
	want := []string{"get _last_checkpoint", "list", "get 00000000000000000037.checkpoint.parquet", "get 38", "get 39"}
	if diff := cmp.Diff(want, sortedGets(s.transcript())); diff != "" {
		t.Error(diff)
	}
}

// TestHeadOfACheckpointsOwnVersion is for a table without a commit after its checkpoint: its times come from the commit.
func TestHeadOfACheckpointsOwnVersion(t *testing.T) {
	s := newMemStore()
	s.put("00000000000000000003.checkpoint.parquet", cpBytes(t, append(cpHead(), cpRow{Txn: &cpTxn{"a", 5, nil}})))
	l := New(s)
	h, err := l.Load(context.Background())
	if err != nil || h.Version != 3 || h.LastTimestamp != 0 || h.Apps["a"].Version != -1 {
		t.Fatal(h, err)
	}
	s.write(3, lineInfo("w"), lineTxn("a", 5))
	if h, err = l.Refresh(context.Background()); err != nil || h.Version != 3 || h.LastTimestamp != 5 || h.Apps["a"].Version != 3 {
		t.Fatal(h, err)
	}
	s.transcript()
	if _, err = l.Refresh(context.Background()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"get 4: absent"}, s.transcript()); diff != "" {
		t.Error(diff)
	}
	if got, err := l.Commit(context.Background(), appending(3, 6)); err != nil || got.Version != 4 {
		t.Error(got, err)
	}
}

// TestLocate looks for the commit of a batch that a log checkpoint tells of.
func TestLocate(t *testing.T) {
	tests := []struct {
		name   string
		at     int64 // version of the commit with the txn
		oldest int64 // version of the first commit that is still there
		batch  int64 // of that commit; the checkpoint has 5
		want   int64 // version; or 0 for an error
	}{
		{"right before", 50, 0, 5, 50},
		{"far before", 3, 0, 5, 3},
		{"the first one", 1, 1, 5, 1},
		{"cleaned up", 20, 21, 5, CleanedUp},
		{"all cleaned up", 20, 51, 5, CleanedUp},
		{"another batch", 40, 0, 4, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newMemStore()
			for v := tt.oldest; v <= 52; v++ {
				s.write(v, lineInfo(fmt.Sprint(v)), lineTxn("b", v))
			}
			if tt.at >= tt.oldest {
				s.write(tt.at, lineInfo("ours"), lineTxn("a", tt.batch))
			}
			s.put("00000000000000000050.checkpoint.parquet", cpBytes(t, append(cpHead(), cpRow{Txn: &cpTxn{"a", 5, nil}})))
			s.write(51, lineInfo("w"))
			l := New(s)
			if _, err := l.Load(context.Background()); err != nil {
				t.Fatal(err)
			}
			h, err := l.Locate(context.Background(), "a")
			if tt.want == 0 {
				if !errors.As(err, new(*CorruptError)) {
					t.Errorf("got %+v, %v", h, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := App{Batch: 5, Version: tt.want}
			if tt.want >= 0 {
				want = App{Batch: 5, Version: tt.want, LastUpdated: 3, UserMetadata: "by ours", TxnID: "ours"}
			}
			if h.Apps["a"] != want || l.Head() != h {
				t.Errorf("got %+v", h.Apps["a"])
			}
			s.transcript()
			for _, app := range []string{"a", "nobody"} {
				if again, err := l.Locate(context.Background(), app); err != nil || again != h || s.transcript() != nil {
					t.Errorf("%s: looked again: %v, %v", app, again, err)
				}
			}
		})
	}
}

func FuzzCheckpoint(f *testing.F) {
	f.Add(parquettest.WithoutChecksums(f, []byte(cpBytes(f, cpHead(), cpFiles("a", "b")))))
	f.Add(parquettest.WithoutChecksums(f, []byte(cpBytes(f, append(cpHead(), cpRow{Txn: &cpTxn{"a", 1, nil}, Sidecar: &cpSidecar{"s"}})))))
	f.Fuzz(func(t *testing.T, body []byte) {
		s := newMemStore()
		s.put("00000000000000000003.checkpoint.parquet", string(body))
		state, err := New(s).Files(context.Background(), -1)
		if err != nil {
			if !errors.As(err, new(*CorruptError)) && !errors.As(err, new(*UnsupportedError)) && !errors.Is(err, ErrNoTable) {
				t.Fatal(err)
			}
			return
		}
		if n := len(seqtest.All(t, state.Files.All(t.Context()))); n != state.Files.Len() {
			t.Fatalf("%d files, and %d", n, state.Files.Len())
		}
	})
}

// TestRareActionsAreFoundInAnyPage has the few actions that are not about files at any place among those that are, in one page and
// in many.
func TestRareActionsAreFoundInAnyPage(t *testing.T) {
	const files = 300
	head := cpHead()
	head[1].MetaData.PartitionColumns = []string{"p", "q"}
	head[1].MetaData.Configuration = map[string]string{"a": "1", "b": "2"}
	rare := append(head,
		cpRow{Txn: &cpTxn{AppID: "x", Version: 1}}, cpRow{Txn: &cpTxn{AppID: "y", Version: 2}},
		cpRow{Domain: &cpDomain{Domain: "d", Configuration: "c"}}, cpRow{Domain: &cpDomain{Domain: "e", Configuration: "c"}})
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 8))
		var rows []cpRow
		for i := range files {
			rows = append(rows, cpFiles(fmt.Sprint(i))...)
		}
		for _, row := range rare {
			rows = slices.Insert(rows, r.IntN(len(rows)+1), row)
		}
		s := newMemStore()
		s.put("00000000000000000005.checkpoint.parquet", cpPages(t, []int{16, 100, 1000, 1 << 20}[seed%4], rows))
		state, err := New(s).Files(t.Context(), -1)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		m := state.Metadata
		if state.Files.Len() != files || state.Protocol.MinWriterVersion != 2 || !slices.Equal(m.PartitionColumns, []string{"p", "q"}) ||
			!maps.Equal(m.Configuration, map[string]string{"a": "1", "b": "2"}) ||
			len(state.Apps) != 2 || state.Apps["x"].Batch != 1 || state.Apps["y"].Batch != 2 || len(state.Domains) != 2 {
			t.Fatalf("seed %d: %d files, %+v", seed, state.Files.Len(), state)
		}
	}
}
