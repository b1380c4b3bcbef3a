package pipeline_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/pipeline"
)

// TestARunCleansUpTheLogBehindItsLogCheckpoints runs in a time in which the commits have expired as soon as they are made.
func TestARunCleansUpTheLogBehindItsLogCheckpoints(t *testing.T) {
	later := func() time.Time { return time.Now().AddDate(0, 0, 60) }
	for name, tt := range map[string]struct {
		extra string
		any   bool
	}{
		"once a day":                  {everyCommit + quarantined, true},
		"not where the table says so": {"  properties: {delta.checkpointInterval: \"1\", delta.enableExpiredLogCleanup: \"false\"}\n" + quarantined, false},
		"not without log checkpoints": {everyCommit + quarantined + "maintenance: {checkpoint: \"off\"}\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, landing(t, 6, 9), tt.extra+"batch: {max_files: 1}\n")
			cleaned := map[string]batch.Maintained{}
			events := batch.Events{Maintained: func(d batch.Maintained) {
				if _, twice := cleaned[d.Table]; d.Work == "cleanup" {
					cleaned[d.Table] = d
					if d.Err != nil || twice || d.Files < 1 {
						t.Errorf("told of %+v, twice %t", d, twice)
					}
				}
			}}
			if err := w.run(t.Context(), pipeline.BuildOptions{Events: events, Now: later}); err != nil {
				t.Fatal(err)
			}
			commits, err := filepath.Glob(filepath.Join(w.file.Table.Path, "_delta_log", "*.json"))
			done, is := cleaned[w.file.Table.Path]
			if err != nil || is != tt.any || is && int64(len(commits)) != 6-done.Version || !is && len(commits) != 6 {
				t.Errorf("%d commits are left, and told of %+v, %v", len(commits), cleaned, err)
			}
			w.check(t)
			w.mustRun(t)
			w.check(t)
		})
	}
}
