package fsck_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/compaction/fsck"
	"github.com/sluicedata/sluice/internal/interop"
	"github.com/sluicedata/sluice/internal/tabletest"
)

// damaged are the tables that their authors have damaged, or whose files they left out: what is found there is so.
func damaged() []string {
	return []string{
		"delta-kernel-defaults/spark-variant-stable-feature-checkpoint",
		"kernel-rs-data/app-txn-with-last-updated",
		"kernel-rs-data/parquet_row_group_skipping", // has a log checkpoint of another table
		"kernel-rs-data/parsed-stats",               // has statistics of a column that is not in the files
		"kernel-rs-data/with_checkpoint_no_last_checkpoint",
		"kernel-rs-data/table-with-cdf", // removes files that it never had
		"kernel-rs-golden/checkpoint/delta",
		"kernel-rs-golden/corrupted-last-checkpoint-kernel/delta",
		"kernel-rs-golden/data-reader-absolute-paths-escaped-chars/delta",
		"kernel-rs-golden/delete-re-add-same-file-different-transactions/delta",
		"kernel-rs-golden/deltalog-commit-info/delta",
		"kernel-rs-golden/deltalog-state-reconstruction-from-checkpoint-missing-metadata/delta",
		"kernel-rs-golden/deltalog-state-reconstruction-from-checkpoint-missing-protocol/delta",
		"kernel-rs-golden/deltalog-state-reconstruction-without-metadata/delta",
		"kernel-rs-golden/deltalog-state-reconstruction-without-protocol/delta",
		"kernel-rs-golden/log-replay-special-characters-b/delta",
		"kernel-rs-golden/update-deleted-directory/delta",
		"kernel-rs-golden/versions-not-contiguous/delta",
	}
}

// large are those that take longer than all others together.
func large(name string) bool {
	return strings.Contains(name, "/parquet-decimal-")
}

// TestTablesOfOtherEnginesHaveNoFaults checks the shared conformance tables.
func TestTablesOfOtherEnginesHaveNoFaults(t *testing.T) {
	root := interop.Shared(t, "conformance")
	checked, refused := 0, 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || d.Name() != "_delta_log" {
			return err
		}
		folder := filepath.Dir(path)
		name, err := filepath.Rel(root, folder)
		if err != nil {
			return err
		}
		if large(name) {
			return filepath.SkipDir
		}
		r, err := fsck.Check(t.Context(), tabletest.Local(t, folder), fsck.Options{Deep: true, Now: time.Now()})
		var unsupported *commitlog.UnsupportedError
		switch {
		case errors.As(err, &unsupported):
			refused++
			return filepath.SkipDir
		case errors.Is(err, commitlog.ErrNoTable): // of one a table's checksum file alone is there
			return filepath.SkipDir
		case err != nil:
			t.Errorf("%s: %v", name, err)
			return filepath.SkipDir
		}
		checked++
		if slices.Contains(damaged(), name) != (len(r.Faults) > 0) {
			t.Errorf("%s: %+v", name, r.Faults)
		}
		return filepath.SkipDir
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d tables were checked, %d are beyond what is supported", checked, refused)
}
