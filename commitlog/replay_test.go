package commitlog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sluicedata/sluice/internal/seqtest"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/local"
)

func withDV(line, id string) string {
	return strings.Replace(line, `"dataChange":true`, `"dataChange":true,"deletionVector":{"storageType":"u","pathOrInlineDv":"`+id+`","offset":1,"sizeInBytes":40,"cardinality":2}`, 1)
}

// TestReplay is action reconciliation: which files are live after the commits, in which order.
func TestReplay(t *testing.T) {
	tests := []struct {
		name    string
		commits [][]string // after version 0
		want    string
	}{
		{"in order of commit", [][]string{{lineAdd("b"), lineAdd("a")}, {lineAdd("c")}}, "b a c"},
		{"removed", [][]string{{lineAdd("a"), lineAdd("b")}, {lineRemove("a")}}, "b"},
		{"removed and added again", [][]string{{lineAdd("a"), lineAdd("b")}, {lineRemove("a")}, {lineAdd("a")}}, "b a"},
		{"added twice", [][]string{{lineAdd("a"), lineAdd("b")}, {lineAdd("a")}}, "b a"},
		{"added twice in one commit", [][]string{{lineAdd("a"), lineAdd("a")}}, "a"},
		{"added and removed in one commit", [][]string{{lineAdd("a"), lineRemove("a")}}, ""},
		{"removed and added in one commit", [][]string{{lineAdd("a")}, {lineRemove("a"), lineAdd("a")}}, ""},
		{"never there", [][]string{{lineRemove("a")}, {lineAdd("b")}}, "b"},
		{"encoded otherwise", [][]string{{lineAdd("a%20b")}, {lineRemove("a b")}}, "a%20b"},
		{"minimal remove", [][]string{{lineAdd("a")}, {`{"remove":{"path":"a"}}`}}, ""},
		{"deletion vector", [][]string{{lineAdd("a")}, {lineRemove("a"), withDV(lineAdd("a"), "x")}}, "a"},
		{"deletion vector replaced", [][]string{{withDV(lineAdd("a"), "x")}, {withDV(lineRemove("a"), "x"), withDV(lineAdd("a"), "y")}}, "a"},
		{"deletion vector's file removed", [][]string{{withDV(lineAdd("a"), "x"), lineAdd("b")}, {withDV(lineRemove("a"), "x")}}, "b"},
		{"remove without the deletion vector", [][]string{{withDV(lineAdd("a"), "x")}, {lineRemove("a")}}, "a"},
		{"nothing", [][]string{{}, {lineTxn("a", 1)}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newMemStore()
			s.write(0, lineProtocol, lineMetadata)
			for i, lines := range tt.commits {
				s.write(int64(i+1), lines...)
			}
			paths := strings.Fields(tt.want)
			state, err := New(s).Files(context.Background(), -1)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, a := range seqtest.All(t, state.Files.All(t.Context())) {
				got = append(got, a.Path)
			}
			if diff := cmp.Diff(paths, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFilesAtAVersion(t *testing.T) {
	s := newMemStore()
	s.write(0, lineProtocol, lineMetadata, lineAdd("a"))
	s.write(1, lineAdd("b"), `{"domainMetadata":{"domain":"d","configuration":"1","removed":false}}`, lineTxn("x", 1))
	s.write(2, lineRemove("a"), `{"domainMetadata":{"domain":"d","configuration":"1","removed":true}}`, lineTxn("x", 2))
	l := New(s)
	for version, want := range []string{"a", "a b", "b"} {
		state, err := l.Files(context.Background(), int64(version))
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, a := range seqtest.All(t, state.Files.All(t.Context())) {
			paths = append(paths, a.Path)
		}
		if got := strings.Join(paths, " "); got != want || state.Version != int64(version) {
			t.Errorf("version %d has %s", version, got)
		}
		if domains, app := len(state.Domains), state.Apps["x"].Batch; domains != version%2 || app != int64(version) {
			t.Errorf("version %d has %d domains, batch %d", version, domains, app)
		}
	}
	if _, err := l.Files(context.Background(), 3); !errors.Is(err, ErrNoVersion) {
		t.Errorf("version 3: %v", err)
	}
	if l.Head() != nil {
		t.Error("Files moved the head")
	}
}

func TestFilesOfALongHistoryWithFewLeft(t *testing.T) {
	s := newMemStore()
	s.write(0, lineProtocol, lineMetadata)
	for v := int64(1); v <= 5000; v++ {
		s.write(v, lineAdd(fmt.Sprint(v)), lineRemove(fmt.Sprint(v-3)))
	}
	state, err := New(s).Files(context.Background(), -1)
	if err != nil {
		t.Fatal(err)
	}
	adds := seqtest.All(t, state.Files.All(t.Context()))
	if len(adds) != 3 || state.Files.Len() != 3 || state.Files.Bytes() != 30 || adds[0].Path != "4998" || adds[2].Path != "5000" {
		t.Fatal(adds, err)
	}
}

func TestCommitsInOrder(t *testing.T) {
	s := newMemStore()
	s.write(0, lineProtocol, lineMetadata)
	for v := int64(1); v < 100; v++ {
		s.write(v, lineInfo(fmt.Sprint(v)))
	}
	read := func(from, to int64) (versions []int64) {
		t.Helper()
		err := New(s).Commits(context.Background(), from, to, func(c *Commit) error {
			if v := c.Version; v > 0 && c.Info.TxnID != fmt.Sprint(v) {
				t.Errorf("version %d is %s", v, c.Info.TxnID)
			}
			versions = append(versions, c.Version)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return versions
	}
	span := func(from, to int64) (versions []int64) {
		for v := from; v <= to; v++ {
			versions = append(versions, v)
		}
		return versions
	}
	for _, tt := range [][4]int64{{0, -1, 0, 99}, {5, 5, 5, 5}, {40, 70, 40, 70}, {90, 500, 90, 99}, {-3, 2, 0, 2}, {100, -1, 1, 0}, {7, 3, 1, 0}} {
		if diff := cmp.Diff(span(tt[2], tt[3]), read(tt[0], tt[1])); diff != "" {
			t.Errorf("%v: %s", tt, diff)
		}
	}

	stop := errors.New("enough")
	if err := New(s).Commits(context.Background(), 0, -1, func(*Commit) error { return stop }); err != stop {
		t.Errorf("got %v", err)
	}
	s.drop(50)
	var corrupt *CorruptError
	if err := New(s).Commits(context.Background(), 0, -1, func(*Commit) error { return nil }); !errors.As(err, &corrupt) || corrupt.Version != 50 {
		t.Errorf("with a hole: %v", err)
	}
	for v := int64(0); v < 50; v++ {
		s.drop(v)
	}
	if got := read(0, 52); !slices.Equal(got, span(51, 52)) {
		t.Errorf("of a log cleaned up: %v", got)
	}
}

// lateStore shows a key only from the second listing on, as a folder may that is listed while it is put.
type lateStore struct {
	storage.Store
	key   string
	lists int
}

func (s *lateStore) List(ctx context.Context, prefix, startAfter string, fn func(storage.Info) error) error {
	s.lists++
	return s.Store.List(ctx, prefix, startAfter, func(info storage.Info) error {
		if info.Key == s.key && s.lists == 1 {
			return nil
		}
		return fn(info)
	})
}

func TestCommitThatAListingLeavesOutThoughItShowsALaterOneIsNoDamage(t *testing.T) {
	for name, checkpoint := range map[string]bool{"behind a commit": false, "behind a log checkpoint": true} {
		t.Run(name, func(t *testing.T) {
			f := newLogFolder(t)
			f.commit(0, lineProtocol, lineMetadata, lineAdd("a"))
			if checkpoint {
				if _, err := f.log().Checkpoint(context.Background()); err != nil {
					t.Fatal(err)
				}
				f.removeCommits(0)
			}
			f.commit(1, lineAdd("b"))
			f.commit(2, lineAdd("c"))
			store := &lateStore{Store: local.New(f.dir), key: fmt.Sprintf("%s%020d.json", logDir, 1)}
			state, err := New(store).Files(context.Background(), 2)
			if err != nil || state.Files.Len() != 3 || store.lists != 2 {
				t.Errorf("%+v after %d listings: %v", state, store.lists, err)
			}
		})
	}
}
