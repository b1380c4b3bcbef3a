package vacuum

import (
	"slices"
	"testing"
	"time"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/storage"
)

func TestHiddenFilesAreNoConcernOfAVacuum(t *testing.T) {
	partitions := []string{"day", "_p", ".q"}
	for key, want := range map[string]bool{
		"part.parquet":                         false,
		"day=1/part.parquet":                   false,
		"_p=1/.q=2/part.parquet":               false,
		"ab/deletion_vector_x.bin":             false,
		"_change_data/cdc.parquet":             false,
		"_change_data/_p=1/cdc.parquet":        false,
		"x/metadata/part.parquet":              false,
		"metadata":                             false,
		"_delta_log/00000000000000000000.json": true,
		"_staging/a/part.parquet":              true,
		"_sluice/t/offsets/0":                  true,
		"_p/part.parquet":                      true,
		"_other=1/part.parquet":                true,
		"day=1/_tmp/part.parquet":              true,
		"day=1/_change_data/part.parquet":      true,
		"day=1/.part.parquet.crc":              true,
		"_p=1":                                 true,
		"_delta_index/x":                       true,
		"metadata/v1.json":                     true,
	} {
		if hidden(key, partitions) != want {
			t.Errorf("%s: hidden is %v", key, !want)
		}
	}
}

func TestPathsOfTheLogStandForTheseFiles(t *testing.T) {
	for path, want := range map[string][]string{
		"a/b.parquet":                {"a/b.parquet"},
		"a%20b%252Fc":                {"a b%2Fc"},
		"./a//b/../c":                {"a/c"},
		"../other/x":                 {"../other/x"},
		"/lake/t/a=1/x":              {"/lake/t/a=1/x", "lake/t/a=1/x", "t/a=1/x", "a=1/x", "x"},
		"s3a://bucket/t/x%20y":       {"s3a:/bucket/t/x y", "bucket/t/x y", "t/x y", "x y"},
		"file:/t/x":                  {"file:/t/x", "t/x", "x"},
		"p=2024-01-01T10:00/x":       {"p=2024-01-01T10:00/x"},
		"day=2024-01-01 10%3A00:00/": {"day=2024-01-01 10:00:00"},
	} {
		if got, err := keysOf(path); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s stands for %q, %v", path, got, err)
		}
	}
	if _, err := keysOf("a%2"); err == nil {
		t.Error("a path that cannot be decoded stands for something")
	}
}

func TestVerdicts(t *testing.T) {
	day := 24 * time.Hour
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	since := now.Add(-7 * day)
	vector := &commitlog.DeletionVector{StorageType: "u", PathOrInlineDv: "ab^-aqEH.-t@S}K{vb[*k^"}
	at := func(age time.Duration) int64 { return now.Add(-age).UnixMilli() }
	commit := func(age time.Duration, c commitlog.Commit) *commitlog.Commit {
		c.Info = &commitlog.CommitInfo{Timestamp: at(age)}
		return &c
	}
	p := &Plan{Before: since, References: newReferences(since), orphans: now.Add(-8 * day)}
	r := p.References
	for _, err := range []error{
		r.file(0, "live", vector, Needed),
		r.history(commit(10*day, commitlog.Commit{
			Removes: []commitlog.Remove{{Path: "expired", DeletionTimestamp: at(10 * day)}, {Path: "back", DeletionTimestamp: at(10 * day)}, {Path: "late", DeletionTimestamp: at(3 * day)}},
			CDCs:    []commitlog.CDC{{Path: "_change_data/old"}},
		})),
		r.history(commit(3*day, commitlog.Commit{
			Removes: []commitlog.Remove{{Path: "recent"}}, // without a time of its own
			CDCs:    []commitlog.CDC{{Path: "_change_data/new"}},
		})),
		r.news(&commitlog.Commit{Adds: []commitlog.Add{{Path: "back"}}}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		key  string
		age  time.Duration
		want verdict
	}{
		{"live", 100 * day, needed},
		{"ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin", 100 * day, needed},
		{"expired", 100 * day, deletable},
		{"expired", 7*day + 1, deletable},
		{"expired", 7 * day, young},
		{"back", 100 * day, needed},
		{"late", 100 * day, needed},
		{"recent", 100 * day, needed},
		{"_change_data/old", 100 * day, deletable},
		{"_change_data/new", 100 * day, needed},
		{"orphan", 100 * day, deletable},
		{"orphan", 8 * day, young},
		{"orphan", 0, young},
	} {
		if got := p.verdict(storage.Info{Key: c.key, Modified: now.Add(-c.age)}, r.Of(c.key)); got != c.want {
			t.Errorf("%s of age %v: %v, want %v", c.key, c.age, got, c.want)
		}
	}
}
