package table

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/internal/seqtest"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/storagetest"
)

// copyOf is a store with the same objects.
func (s *memStore) copyOf() *memStore {
	c := newMemStore()
	maps.Copy(c.objects, s.objects)
	return c
}

// storeWithVersions has a table of three appends, of which the second is gone again, and a property that came with version 4.
func storeWithVersions(t testing.TB) *memStore {
	t.Helper()
	store := newMemStore()
	tbl := New(store, Options{AppID: "test"})
	s := parseSchema(t, "id:long,p:string")
	r := rand.New(rand.NewPCG(1, 2))
	for batch := range int64(3) {
		appendAll(t, tbl, batch, &Create{Schema: s}, randomRecord(r, s, 5))
	}
	snap := newestOf(t, store)
	for f, err := range snap.Files(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Path != seqtest.All(t, snap.state.Files.All(t.Context()))[1].Path {
			continue
		}
		remove := removal(f.add, 1)
		remove.DataChange = true
		if _, err := tbl.Log().Commit(t.Context(), commitlog.Transaction{ReadVersion: 2, Actions: commitlog.Commit{Removes: []commitlog.Remove{remove}}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tbl.ChangeProperties(t.Context(), Change{Set: map[string]string{"own": "x", "delta.enableChangeDataFeed": "true"}}); err != nil {
		t.Fatal(err)
	}
	return store
}

func storeClusteredBy(t testing.TB, columns ...string) *memStore {
	t.Helper()
	store := storeWithVersions(t)
	if _, err := New(store, Options{}).ClusterBy(t.Context(), columns); err != nil {
		t.Fatal(err)
	}
	return store
}

func newestOf(t testing.TB, store storage.Store) *Snapshot {
	t.Helper()
	snap, err := New(store, Options{}).Snapshot(t.Context(), Newest)
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// stateText is all that a reader can see of a table, but for its version.
func stateText(t testing.TB, store storage.Store) string {
	t.Helper()
	snap, err := New(store, Options{}).Snapshot(t.Context(), Newest)
	if errors.Is(err, commitlog.ErrNoTable) {
		return "no table"
	}
	if err != nil {
		t.Fatal(err)
	}
	rows := snapshotRows(t, snap, ScanOptions{})
	slices.Sort(rows)
	return fmt.Sprint(snap.schema, snap.Properties(), snap.state.Domains, snap.state.Protocol.Features(), snap.state.Apps["test"].Batch, rows)
}

func restoreTo(t testing.TB, store storage.Store, version int64) error {
	tbl := New(store, Options{})
	to, err := tbl.Snapshot(t.Context(), version)
	if err != nil {
		return err
	}
	r, err := tbl.PlanRestore(t.Context(), to)
	if err == nil {
		err = r.Check(t.Context(), to)
	}
	if err != nil || r.Nothing() {
		return err
	}
	_, err = r.Put(t.Context())
	return err
}

// TestChangesThatDieAnywhereAreMadeOnceOrNot dies, or is lied to, at each operation on storage of a verb that makes one commit,
// and calls it again.
func TestChangesThatDieAnywhereAreMadeOnceOrNot(t *testing.T) {
	for name, verb := range map[string]struct {
		origin *memStore
		do     func(storage.Store) error
	}{
		"restore": {storeWithVersions(t), func(s storage.Store) error { return restoreTo(t, s, 1) }},
		"set": {storeWithVersions(t), func(s storage.Store) error {
			_, err := New(s, Options{}).ChangeProperties(t.Context(), Change{Set: map[string]string{"own": "y", "delta.enableDeletionVectors": "true"}, Unset: []string{"delta.enableChangeDataFeed"}})
			return err
		}},
		"cluster by": {storeWithVersions(t), func(s storage.Store) error {
			_, err := New(s, Options{}).ClusterBy(t.Context(), []string{"id"})
			return err
		}},
		"cluster by none": {storeClusteredBy(t, "id"), func(s storage.Store) error {
			_, err := New(s, Options{}).ClusterBy(t.Context(), nil)
			return err
		}},
		"create": {newMemStore(), func(s storage.Store) error {
			err := New(s, Options{}).Make(t.Context(), &Create{Schema: parseSchema(t, "id:long"), Properties: map[string]string{"own": "x"}})
			if errors.Is(err, ErrExists) {
				return nil
			}
			return err
		}},
	} {
		before := stateText(t, verb.origin)
		want := verb.origin.copyOf()
		if err := verb.do(want); err != nil {
			t.Fatal(err)
		}
		after, newest := stateText(t, want), newestOf(t, want).Version()
		if before == after {
			t.Fatalf("%s changes nothing", name)
		}
		for _, mode := range append(slices.Clone(storagetest.Modes), storagetest.Zombie) {
			t.Run(name+"/"+mode.String(), func(t *testing.T) {
				for at := 0; ; at++ {
					store := verb.origin.copyOf()
					crash := &storagetest.Crash{At: at, Mode: mode, Delay: 3}
					err := verb.do(crash.Wrap(store))
					crash.Deliver()
					if !crash.Happened() {
						if err != nil {
							t.Fatal(err)
						}
						return
					}
					if got := stateText(t, store); got != before && got != after || err == nil && got != after {
						t.Fatalf("%s, %v: %s", crash.Op, err, got)
					}
					if err := verb.do(store); err != nil {
						t.Fatalf("%s, again: %v", crash.Op, err)
					}
					if got := stateText(t, store); got != after || newestOf(t, store).Version() != newest {
						t.Fatalf("%s, again: version %d: %s", crash.Op, newestOf(t, store).Version(), got)
					}
				}
			})
		}
	}
}

// TestRestoreBringsBackEachVersion goes to and fro between all versions of a table.
func TestRestoreBringsBackEachVersion(t *testing.T) {
	store := storeWithVersions(t)
	var want []string
	for v := range int64(5) {
		snap, err := New(store, Options{}).Snapshot(t.Context(), v)
		if err != nil {
			t.Fatal(err)
		}
		rows := snapshotRows(t, snap, ScanOptions{})
		slices.Sort(rows)
		want = append(want, fmt.Sprint(snap.Properties(), rows))
	}
	for _, v := range []int64{0, 4, 1, 3, 2, 2, 0} {
		if err := restoreTo(t, store, v); err != nil {
			t.Fatal(err)
		}
		snap := newestOf(t, store)
		rows := snapshotRows(t, snap, ScanOptions{})
		slices.Sort(rows)
		if diff := cmp.Diff(want[v], fmt.Sprint(snap.Properties(), rows)); diff != "" {
			t.Errorf("version %d: %s", v, diff)
		}
		if !snap.state.Protocol.Supports("changeDataFeed") || snap.state.Apps["test"].Batch != 2 {
			t.Errorf("protocol %v, apps %v", snap.state.Protocol, snap.state.Apps)
		}
	}
	err := New(store, Options{}).History(t.Context(), func(c *commitlog.Commit) error {
		for i := range c.Adds {
			if !c.Adds[i].DataChange || c.Info.Operation == "RESTORE" && *c.Info.IsBlindAppend {
				t.Errorf("version %d: %+v", c.Version, c.Info)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRestorationKeepsWhatNeverGoesBack(t *testing.T) {
	state := func(protocol commitlog.Protocol, configuration map[string]string, domains ...commitlog.DomainMetadata) *commitlog.State {
		s := &commitlog.State{Protocol: protocol, Metadata: commitlog.Metadata{ID: fmt.Sprint(len(domains)), Configuration: configuration}, Files: &commitlog.Files{}, Domains: map[string]commitlog.DomainMetadata{}}
		for _, d := range domains {
			s.Domains[d.Domain] = d
		}
		return s
	}
	from := state(commitlog.Protocol{MinReaderVersion: 1, MinWriterVersion: 7, WriterFeatures: []string{"inCommitTimestamp"}},
		map[string]string{"own": "new", "delta.enableInCommitTimestamps": "true", "delta.columnMapping.maxColumnId": "9"},
		commitlog.DomainMetadata{Domain: "delta.rowTracking", Configuration: "9"}, commitlog.DomainMetadata{Domain: "gone", Configuration: "g"}, commitlog.DomainMetadata{Domain: "other", Configuration: "new"})
	to := state(commitlog.Protocol{MinReaderVersion: 1, MinWriterVersion: 2},
		map[string]string{"own": "old", "delta.columnMapping.maxColumnId": "3"},
		commitlog.DomainMetadata{Domain: "delta.rowTracking", Configuration: "3"}, commitlog.DomainMetadata{Domain: "other", Configuration: "old"})
	c, err := restoration(t.Context(), from, to, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	want := commitlog.Commit{
		Metadata: &commitlog.Metadata{ID: "3", Configuration: map[string]string{"own": "old", "delta.enableInCommitTimestamps": "true", "delta.columnMapping.maxColumnId": "9"}},
		Protocol: &commitlog.Protocol{MinReaderVersion: 1, MinWriterVersion: 7, WriterFeatures: []string{"inCommitTimestamp", "appendOnly", "invariants"}},
		Domains:  []commitlog.DomainMetadata{{Domain: "gone", Configuration: "g", Removed: true}, {Domain: "other", Configuration: "old"}},
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
}

func TestRestoreIsRefused(t *testing.T) {
	t.Run("when files are gone", func(t *testing.T) {
		store := storeWithVersions(t)
		snap, err := New(store, Options{}).Snapshot(t.Context(), 2)
		if err != nil {
			t.Fatal(err)
		}
		delete(store.objects, seqtest.All(t, snap.state.Files.All(t.Context()))[1].Path)
		if err := restoreTo(t, store, 2); err == nil || !strings.Contains(err.Error(), "1 of the 1 files that version 2 had besides are gone, part-") {
			t.Error(err)
		}
	})
	t.Run("when somebody appends meanwhile", func(t *testing.T) {
		store := storeWithVersions(t)
		tbl := New(store, Options{})
		to, err := tbl.Snapshot(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		r, err := tbl.PlanRestore(t.Context(), to)
		if err != nil {
			t.Fatal(err)
		}
		s := parseSchema(t, "id:long,p:string")
		appendAll(t, New(store, Options{AppID: "test"}), 3, nil, randomRecord(rand.New(rand.NewPCG(1, 2)), s, 5))
		var conflict *commitlog.ConflictError
		if _, err := r.Put(t.Context()); !errors.As(err, &conflict) {
			t.Error(err)
		}
	})
	t.Run("when the table only takes appends", func(t *testing.T) {
		store := storeWithVersions(t)
		if _, err := New(store, Options{}).ChangeProperties(t.Context(), Change{Set: map[string]string{"delta.appendOnly": "true"}}); err != nil {
			t.Fatal(err)
		}
		if err := restoreTo(t, store, 0); err == nil || !strings.Contains(err.Error(), "delta.appendOnly is true") {
			t.Error(err)
		}
	})
}

func TestDiffOfVersions(t *testing.T) {
	store := storeWithVersions(t)
	tbl := New(store, Options{})
	var snaps []*Snapshot
	for v := range int64(5) {
		s, err := tbl.Snapshot(t.Context(), v)
		if err != nil {
			t.Fatal(err)
		}
		snaps = append(snaps, s)
	}
	d, err := snaps[2].Diff(t.Context(), snaps[4])
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Added) != 0 || len(d.Removed) != 1 || d.Removed[0].Rows != 5 || len(d.Apps) != 0 || len(d.Columns) != 0 || len(d.Properties) != 2 || d.Properties[1].Name != "own" || *d.Properties[1].After != "x" || d.Properties[1].Before != nil {
		t.Errorf("%+v", d)
	}
	if d, err = snaps[4].Diff(t.Context(), snaps[0]); err != nil || len(d.Removed) != 1 || len(d.Apps) != 1 || d.Apps[0] != (AppChange{"test", 2, 0}) {
		t.Errorf("%+v, %v", d, err)
	}
	before, after := parseSchema(t, "a:long,b:int,c:int,d:int"), parseSchema(t, "a:long,b:long,d:int,e:date")
	var names []string
	for _, c := range columnChanges(before, after) {
		names = append(names, fmt.Sprintf("%s%t%t", c.Name, c.Before != nil, c.After != nil))
	}
	if diff := cmp.Diff([]string{"btruetrue", "ctruefalse", "dtruetrue", "efalsetrue"}, names); diff != "" {
		t.Error(diff)
	}
}

func TestPropertiesAreKnownAndHaveExamples(t *testing.T) {
	s := parseSchema(t, "id:long,`device`:struct<serial:string>,ts:date")
	for _, p := range Properties() {
		c := &Create{Schema: s, Properties: map[string]string{p.Name: p.Example}}
		if err := c.Check(); err != nil {
			t.Error(err)
		}
		if p.Feature == "" {
			continue
		}
		if _, err := (commitlog.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}).With(p.Feature); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		if feature, fault := CheckProperty(p.Name, p.Off); feature != "" || fault != nil {
			t.Errorf("%s off: %s, %v", p.Name, feature, fault)
		}
	}
	if feature, fault := CheckProperty("delta.enableDeletionVectors", "TRUE"); feature != "deletionVectors" || fault != nil {
		t.Error(feature, fault)
	}
	for name, value := range map[string]string{
		"delta.nothing": "1", "sluice.nothing": "1", "delta.feature.deletionVectors": "supported", "DELTA.minReaderVersion": "3",
		"delta.setTransactionRetentionDuration": "interval 1 day", "delta.constraints.c": "id > 0", "delta.enableRowTracking": "true",
		"delta.columnMapping.mode": "names", "delta.columnMapping.maxColumnId": "3", "delta.logRetentionDuration": "interval 1 month", "delta.inCommitTimestampEnablementVersion": "1",
	} {
		if _, fault := CheckProperty(name, value); fault == nil || fault.Problem == "" || fault.Fix == "" {
			t.Errorf("%s: %v", name, fault)
		}
	}
}

func TestStatisticsOfColumnsThatAreNotThereAreRefused(t *testing.T) {
	s := parseSchema(t, "id:long,s:struct<a:int,b:int>,l:array<int>")
	for names, refused := range map[string]string{"id,s": "", "s.b, `l`": "", "Id": "Id", "id,s.c": "s.c", "l.element": "l.element"} {
		err := (&Create{Schema: s, Properties: map[string]string{"delta.dataSkippingStatsColumns": names}}).Check()
		if want := fmt.Sprintf("delta.dataSkippingStatsColumns names %q, which is no column", refused); (refused != "") != (err != nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", names, err)
		}
	}
}
