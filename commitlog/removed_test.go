package commitlog

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// lineTombstone is a remove with all that a tombstone keeps.
func lineTombstone(path string, at int64) string {
	return fmt.Sprintf(`{"remove":{"path":%q,"deletionTimestamp":%d,"dataChange":true,"extendedFileMetadata":true,"partitionValues":{"p":"1","q":null},"size":7,`+
		`"deletionVector":{"storageType":"u","pathOrInlineDv":"x","offset":3,"sizeInBytes":4,"cardinality":5},"baseRowId":8,"defaultRowCommitVersion":9,"stats":"{}","tags":{"a":"b"}}}`, path, at)
}

func removedOf(t *testing.T, s *memStore, after int64) []Remove {
	t.Helper()
	state, err := New(s).FilesAndRemoved(context.Background(), -1, time.UnixMilli(after))
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(state.Removed())
}

func TestTombstonesAreKeptUntilTheyExpireOrTheFileIsBack(t *testing.T) {
	one, null, size, offset, base, since := "1", (*string)(nil), int64(7), int32(3), int64(8), int64(9)
	whole := Remove{
		Path: "whole", DeletionTimestamp: 100, ExtendedFileMetadata: true, PartitionValues: map[string]*string{"p": &one, "q": null}, Size: &size,
		DeletionVector: &DeletionVector{StorageType: "u", PathOrInlineDv: "x", Offset: &offset, SizeInBytes: 4, Cardinality: 5}, BaseRowID: &base, DefaultRowCommitVersion: &since,
	}
	remove := func(path string, at int64) string {
		return fmt.Sprintf(`{"remove":{"path":%q,"deletionTimestamp":%d,"dataChange":true}}`, path, at)
	}
	s := newMemStore()
	s.write(0, lineProtocol, lineMetadata, lineAdd("back"), lineAdd("old"), lineAdd("bare"), lineAdd("twice"))
	s.write(1, lineTombstone("whole", 100), remove("back", 100), remove("old", 50), remove("bare", 51), remove("twice", 60), `{"remove":{"path":"undated"}}`)
	s.write(2, lineAdd("back"), remove("twice", 70))
	s.write(3, lineAdd("both"), remove("both", 80))
	want := []Remove{whole, {Path: "bare", DeletionTimestamp: 51}, {Path: "twice", DeletionTimestamp: 70}, {Path: "both", DeletionTimestamp: 80}}
	if diff := cmp.Diff(want, removedOf(t, s, 50)); diff != "" {
		t.Errorf("from the commits: %s", diff)
	}
	if state, err := New(s).Files(context.Background(), -1); err != nil || len(slices.Collect(state.Removed())) > 0 {
		t.Errorf("not asked for: %v", err)
	}

	// The same from a log checkpoint in JSON, with a file that comes back later.
	s = newMemStore()
	s.put("00000000000000000003.checkpoint.x.json", strings.Join([]string{lineProtocol, lineMetadata, lineTombstone("whole", 100), remove("old", 50), remove("bare", 51), remove("back", 90)}, "\n"))
	s.write(4, lineAdd("back"))
	if diff := cmp.Diff([]Remove{whole, {Path: "bare", DeletionTimestamp: 51}}, removedOf(t, s, 50)); diff != "" {
		t.Errorf("from a log checkpoint: %s", diff)
	}
}
