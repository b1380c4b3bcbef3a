package proof

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLakeInS3ThatWasSetBackIsToldAndGoesOn(t *testing.T) {
	j := newJudge(t)
	j.startS3(t)
	s := j.siteAt(t, places{table: j.s3.place("notes")}, fileSource, noteColumns, "", "batch: {max_files: 2}")
	p := &producer{}
	f := feed{s, p, func() error { return p.land(s.landing, 20) }}
	table, checkpoint := j.disk(s.table), j.disk(s.checkpoint)
	backup := f.backedUp(t, table)
	keep := func(folder string) (kept string) {
		kept = filepath.Join(t.TempDir(), "kept")
		must(t, func() error { return os.CopyFS(kept, os.DirFS(folder)) })
		return kept
	}

	// Both were restored.
	replace(t, table, backup)
	if p := f.finish(t); strings.Contains(p.stderr.text(), "went back") {
		t.Errorf("nothing went back:\n%s", p.stderr.text())
	}
	s.checkAudit(t, p.notes)

	// The table lost its newest commit, then it was restored without its checkpoint.
	newestCommit := last(f.commits(t))
	must(t, func() error { return os.Remove(newestCommit) })
	wants(t, f.finish(t), "the table went back: batch 2 was committed as version 2", "batches 2 to 2 are brought forward")
	s.checkAudit(t, p.notes)
	kept := keep(checkpoint)
	replace(t, table, backup)
	replace(t, checkpoint, kept)
	wants(t, f.finish(t), "the table went back: batch 2 was committed as version 2", "batches 2 to 2 are brought forward")
	s.checkAudit(t, p.notes)

	// The checkpoint was restored without its table.
	replace(t, checkpoint, filepath.Join(backup, "_sluice", pipelineName))
	wants(t, run(t, exitCorrupt, "run", s.file), "the checkpoint is older than the table: its newest plan is of batch 1, the table holds batch 2")
	f.finish(t, "--adopt-table")
	must(t, f.step)
	f.finish(t)
	s.check(t, p)
	j.judge(t)
}

func TestTableInS3ThatWasDroppedAndCreatedAgainIsRefused(t *testing.T) {
	j := newJudge(t)
	j.startS3(t)
	s := j.siteAt(t, places{table: j.s3.place("notes")}, fileSource, noteColumns, "", "checkpoint: "+j.s3.place("checkpoint"))
	p := &producer{}
	for range 2 { // the second plan names the table
		must(t, func() error { return p.land(s.landing, 20) })
		s.finish(t)
	}
	must(t, func() error { return os.RemoveAll(j.disk(s.table)) })
	wants(t, run(t, exitCorrupt, "run", s.file), "the table is gone")
	again := *s
	again.file = filepath.Join(s.folder, "again.yaml")
	again.configure(t, pipelineName, fileSource, noteColumns, "", "checkpoint: again")
	run(t, 0, "run", again.file)
	must(t, func() error { return p.land(s.landing, 20) })
	wants(t, run(t, exitCorrupt, "run", s.file), "it was dropped and created again", "--adopt-table")
	s.finish(t, "--adopt-table")
	s.check(t, p)
	j.judge(t)
}
