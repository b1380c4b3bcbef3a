package proof

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sluicedata/sluice/offsetlog"
)

// exitCorrupt is the exit code of a run that was refused.
const exitCorrupt = 3

// rewind is a way in which checkpoint and table come to contradict each other.
type rewind struct {
	name   string
	damage func(t *testing.T, f feed, earlier string) // earlier is a copy of the checkpoint after batch 1
	says   []string
	// both says that ranges of table and checkpoint are to be named; else one of the two has none.
	both bool
	// tampered says that the audit of the table has to find what was done to it.
	tampered bool
}

var rewinds = []rewind{
	{
		name: "checkpoint restored", both: true, says: []string{"the checkpoint is older than the table: its newest plan is of batch 1, the table holds batch 3"},
		damage: func(t *testing.T, f feed, earlier string) { replace(t, f.checkpoint, earlier) },
	},
	{
		name: "checkpoint deleted", says: []string{"the checkpoint holds no plans"},
		damage: func(t *testing.T, f feed, _ string) { must(t, func() error { return os.RemoveAll(f.checkpoint) }) },
	},
	{
		name: "plan edited", both: true, says: []string{"covers other ranges than its plan"},
		damage: func(t *testing.T, f feed, _ string) {
			editPlan(t, last(f.plans(t)), func(p *offsetlog.Plan) { p.Ranges[0].To-- })
		},
	},
	{
		name: "checkpoint of another pipeline", both: true, says: []string{`it belongs to pipeline "other", not to "proof"`},
		damage: func(t *testing.T, f feed, _ string) {
			for _, name := range f.plans(t) {
				editPlan(t, name, func(p *offsetlog.Plan) { p.Pipeline = "other" })
			}
		},
	},
	{
		name: "checkpoint of another run of the pipeline", both: true, says: []string{"was run from another checkpoint"},
		damage: func(t *testing.T, f feed, _ string) {
			for _, name := range f.plans(t) {
				editPlan(t, name, func(p *offsetlog.Plan) { p.Checkpoint = "5f0c8f0e-0000-4000-8000-000000000000" })
			}
		},
	},
	{
		name: "hole among the plans", says: []string{"offsets/00000000000000000002", "it is missing"},
		damage: func(t *testing.T, f feed, _ string) { must(t, func() error { return os.Remove(f.plans(t)[2]) }) },
	},
	{
		name: "damaged plan", says: []string{"offsets/00000000000000000001", "its checksum is"},
		damage: func(t *testing.T, f feed, _ string) {
			edit(t, f.plans(t)[1], func(text string) string { return strings.Replace(text, `"batch":1`, `"batch":7`, 1) })
		},
	},
	{
		name: "txn record gone", both: true, tampered: true, says: []string{`the table has no txn action of "proof" any more`},
		damage: func(t *testing.T, f feed, _ string) {
			for _, name := range f.commits(t) {
				edit(t, name, func(text string) string { return txnAction.ReplaceAllString(text, "") })
			}
		},
	},
}

var txnAction = regexp.MustCompile(`(?m)^\{"txn":.*\n?`)

// prepare runs four batches and returns a copy of the checkpoint as it was after the second.
func (f feed) prepare(t *testing.T) (earlier string) {
	t.Helper()
	earlier = f.backedUp(t, f.checkpoint)
	if n := len(f.plans(t)); n != 4 {
		t.Fatalf("%d plans, want 4", n)
	}
	return earlier
}

// backedUp runs four batches and returns a copy of a folder as it was after the second.
func (f feed) backedUp(t *testing.T, folder string) (earlier string) {
	t.Helper()
	earlier = filepath.Join(t.TempDir(), "earlier")
	for i := range 4 {
		must(t, f.step)
		f.finish(t)
		if i == 1 {
			must(t, func() error { return os.CopyFS(earlier, os.DirFS(folder)) })
		}
	}
	return earlier
}

func TestContradictionIsRefusedAndTheTablesRecordCanBeAdopted(t *testing.T) {
	j := newJudge(t)
	for _, r := range rewinds {
		t.Run(strings.ReplaceAll(r.name, " ", "-"), func(t *testing.T) {
			eachSource(t, j, func(t *testing.T, f feed) {
				r.damage(t, f, f.prepare(t))
				must(t, f.step)
				before := tree(t, f.folder)
				refused := run(t, exitCorrupt, "run", f.file)
				wants(t, refused, append(r.says, "--adopt-table")...)
				sides := rangesNamed(refused.stderr.text())
				if sides == 0 || r.both && sides < 2 {
					t.Errorf("ranges of %d sides are named:\n%s", sides, refused.stderr.text())
				}
				diff(t, "files behind a refused run", tree(t, f.folder), before)
				f.finish(t, "--adopt-table")
				must(t, f.step)
				f.finish(t)
				f.checkRows(t, f.producer, r.tampered)
			})
		})
	}
	j.judge(t)
}

// rangesNamed counts the lines of a message that hold a range.
func rangesNamed(text string) (lines int) {
	for line := range strings.Lines(text) {
		if oneRange.MatchString(line) {
			lines++
		}
	}
	return lines
}

var oneRange = regexp.MustCompile(`\S+ \[\d+, \d+\)`)

func TestTableThatWasDroppedAndCreatedAgainIsRefused(t *testing.T) {
	j := newJudge(t)
	t.Run("by others", func(t *testing.T) {
		s, p := droppable(t, j)
		// Another pipeline makes the table again, and this one's record is in it nowhere.
		other := *s
		other.file = filepath.Join(s.folder, "other.yaml")
		other.configure(t, "other", "files: {path: elsewhere, settle: 0s}", noteColumns, "", "checkpoint: other")
		must(t, func() error { return os.Mkdir(filepath.Join(s.folder, "elsewhere"), 0o777) })
		must(t, func() error { return (&producer{}).land(filepath.Join(s.folder, "elsewhere"), 1) })
		other.finish(t)
		refused := run(t, exitCorrupt, "run", s.file)
		wants(t, refused, "the table was dropped and created again", "000004.ndjson [0, ", "remove the checkpoint")
		adopted := run(t, 1, "run", s.file, "--adopt-table")
		wants(t, adopted, `its log has no record of pipeline "proof"`)
		run(t, exitCorrupt, "run", s.file)
		// The way out that is named: everything again, into a table of its own.
		must(t, func() error { return os.RemoveAll(s.table) })
		must(t, func() error { return os.RemoveAll(s.checkpoint) })
		s.finish(t)
		s.check(t, p)
	})
	t.Run("by the pipeline itself", func(t *testing.T) {
		s, p := droppable(t, j)
		again := *s
		again.file = filepath.Join(s.folder, "again.yaml")
		again.configure(t, pipelineName, fileSource, noteColumns, "", "checkpoint: again")
		run(t, 0, "run", again.file)
		must(t, func() error { return p.land(s.landing, 9) })
		refused := run(t, exitCorrupt, "run", s.file)
		wants(t, refused, "it was dropped and created again", "000004.ndjson [0, ", "--adopt-table")
		if sides := rangesNamed(refused.stderr.text()); sides < 2 {
			t.Errorf("ranges of %d sides are named:\n%s", sides, refused.stderr.text())
		}
		s.finish(t, "--adopt-table")
		s.check(t, p)
	})
	j.judge(t)
}

// droppable is a pipeline that has run four batches and whose table is gone, but not its checkpoint.
func droppable(t *testing.T, j *judge) (*site, *producer) {
	t.Helper()
	s := j.site(t, fileSource, noteColumns, "", "checkpoint: checkpoint")
	p := &producer{}
	f := feed{s, p, func() error { return p.land(s.landing, 20) }}
	f.prepare(t)
	must(t, func() error { return os.RemoveAll(s.table) })
	wants(t, run(t, exitCorrupt, "run", s.file), "the table is gone", "000004.ndjson [0, ")
	return s, p
}

func TestTableThatWentBackIsBroughtForward(t *testing.T) {
	j := newJudge(t)
	for commits, forward := range map[int]string{3: "batches 3 to 3", 2: "batches 2 to 3"} {
		t.Run(fmt.Sprintf("to %d commits", commits), func(t *testing.T) {
			eachSource(t, j, func(t *testing.T, f feed) {
				f.prepare(t)
				for _, name := range f.commits(t)[commits:] {
					must(t, func() error { return os.Remove(name) })
				}
				must(t, f.step)
				said := run(t, 0, "status", f.file).stdout.String()
				if !strings.Contains(said, "the table went back") {
					t.Errorf("status does not say it:\n%s", said)
				}
				wants(t, f.finish(t), "the table went back: batch 3 was committed as version 3", forward+" are brought forward from their plans")
				f.checkRows(t, f.producer, false)
			})
		})
	}
	j.judge(t)
}

func TestRestoredFromABackupThePipelineGoesOn(t *testing.T) {
	j := newJudge(t)
	eachSource(t, j, func(t *testing.T, f feed) {
		backup, kept := f.backedUp(t, f.table), filepath.Join(t.TempDir(), "kept")
		must(t, func() error { return os.CopyFS(kept, os.DirFS(f.checkpoint)) })
		replace(t, f.table, backup)
		if p := f.finish(t); strings.Contains(p.stderr.text(), "went back") {
			t.Errorf("table and checkpoint were restored together, and it says:\n%s", p.stderr.text())
		}
		f.checkAudit(t, f.notes)
		replace(t, f.table, backup)
		replace(t, f.checkpoint, kept)
		wants(t, f.finish(t), "the table went back: batch 3 was committed as version 3", "batches 2 to 3 are brought forward from their plans")
		f.check(t, f.producer)
	})
	j.judge(t)
}

func TestTornNewestPlanIsPlannedAnew(t *testing.T) {
	j := newJudge(t)
	eachSource(t, j, func(t *testing.T, f feed) {
		f.prepare(t)
		plan, err := os.ReadFile(last(f.plans(t)))
		if err != nil {
			t.Fatal(err)
		}
		torn := filepath.Join(f.checkpoint, "offsets", fmt.Sprintf("%020d", 4))
		must(t, func() error { return os.WriteFile(torn, plan[:len(plan)/2], 0o666) })
		must(t, f.step)
		wants(t, f.finish(t), "the plan of batch 4 was torn by a crash")
		f.check(t, f.producer)
	})
	j.judge(t)
}

func last(names []string) string { return names[len(names)-1] }

func replace(t *testing.T, folder, by string) {
	t.Helper()
	must(t, func() error { return os.RemoveAll(folder) })
	must(t, func() error { return os.CopyFS(folder, os.DirFS(by)) })
}

func edit(t *testing.T, name string, change func(string) string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	must(t, func() error { return os.WriteFile(name, []byte(change(string(text))), 0o666) })
}

// editPlan changes a plan as somebody would who knows the checksum.
func editPlan(t *testing.T, name string, change func(*offsetlog.Plan)) {
	t.Helper()
	edit(t, name, func(text string) string {
		plan, err := offsetlog.Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		change(&plan)
		encoded, err := plan.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return string(encoded)
	})
}
