package pipeline

import (
	"fmt"
	"time"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/memory"
)

// Maintenance is what a run does to its tables beside appending to them.
type Maintenance struct {
	Compact    Compact
	Checkpoint When
	Vacuum     Vacuum
}

// When says when a run does a work of maintenance.
type When string

// The choices of the keys of maintenance.
const (
	Auto When = "auto" // when it is worth it
	Off  When = "off"  // never
)

// Compact says which small files a run rewrites. The zero value is none.
type Compact struct {
	MinFiles int64         // not before there are so many; 0: never
	MinAge   time.Duration // files younger than this are left alone
}

// Vacuum says how often a run deletes the files that its tables do not need. The zero value is never.
type Vacuum struct {
	Every time.Duration
}

const (
	// defaultMinFiles is how many small files are worth a compaction, as for Spark's (autoCompact.minNumFiles).
	defaultMinFiles = 50
	defaultMinAge   = 5 * time.Minute
	defaultEvery    = 24 * time.Hour
	leastEvery      = time.Minute
)

func (r *reader) maintenance(file map[string]value) Maintenance {
	m := Maintenance{Checkpoint: Auto}
	v, ok := file["maintenance"]
	if !ok {
		return m
	}
	fields, ok := r.section(v, "maintenance")
	if !ok {
		return m
	}
	if v, ok := fields["checkpoint"]; ok {
		oneOf(r, v, &m.Checkpoint, Auto, Off)
	}
	if v, ok := fields["compact"]; ok {
		m.Compact = r.compact(v)
	}
	if v, ok := fields["vacuum"]; ok {
		m.Vacuum = r.vacuum(v)
	}
	return m
}

// chore reads auto, "off", or a mapping that says what auto decides itself; on says that it is to be done.
func (r *reader) chore(v value, name string) (fields map[string]value, on bool) {
	if isMapping(v) {
		return r.section(v, name)
	}
	when := Off
	oneOf(r, v, &when, Auto, Off)
	return nil, when == Auto
}

func (r *reader) compact(v value) Compact {
	fields, on := r.chore(v, "maintenance.compact")
	if !on {
		return Compact{}
	}
	c := Compact{MinFiles: defaultMinFiles, MinAge: defaultMinAge}
	if v, ok := fields["min_files"]; ok {
		if n, ok := r.integer(v, 2, "50"); ok {
			c.MinFiles = n
		}
	}
	if v, ok := fields["min_age"]; ok {
		if d, ok := r.duration(v, "5m"); ok {
			c.MinAge = d
		}
	}
	return c
}

func (r *reader) vacuum(v value) Vacuum {
	fields, on := r.chore(v, "maintenance.vacuum")
	if !on {
		return Vacuum{}
	}
	out := Vacuum{Every: defaultEvery}
	if v, ok := fields["every"]; ok {
		switch d, ok := r.duration(v, "24h"); {
		case !ok:
		case d < leastEvery:
			r.fault(v, "is less than "+leastEvery.String(), "write a duration such as 24h: no file is deleted sooner, as the table's retention says when")
		default:
			out.Every = d
		}
	}
	return out
}

// any says whether there is any maintenance beside a run.
func (m *Maintenance) any() bool {
	return m.Compact.MinFiles > 0 || m.Checkpoint == Auto || m.Vacuum.Every > 0
}

// maintainers are those of the pipeline's tables, in the order in which they are of use to one another.
func (p *Pipeline) maintainers(o BuildOptions) []batch.Maintainer {
	var all []batch.Maintainer
	m, account := p.File.Maintenance, p.accounts.maintenance
	for _, t := range []batch.Table{p.config.Table, p.config.Quarantine} {
		l, ok := t.(*lake)
		if !ok {
			continue
		}
		if m.Compact.MinFiles > 0 {
			all = append(all, newCompactions(l, m.Compact, o, account))
		}
		if m.Checkpoint == Auto {
			c := &checkpoints{log: l.table.Log(), url: l.url, memory: account}
			all = append(all, c, &cleanups{checkpoints: c, now: o.Now, memory: account})
		}
		if m.Vacuum.Every > 0 {
			all = append(all, &vacuums{lake: l, every: m.Vacuum.Every, now: o.Now, memory: account})
		}
	}
	return all
}

// reserve takes what a work needs of the memory of maintenance, if that is there. what is said of it, and instead is the command that has
// memory of its own.
func reserve(account *memory.Account, need int64, what, instead string) (release func(), err error) {
	if room := account.Room(); room < need {
		return nil, fmt.Errorf("%s takes %s of memory, and %s are free; raise memory in the pipeline file, or run sluice %s by a timer", what, mebibytes(need), mebibytes(room), instead)
	}
	account.Add(need)
	return func() { account.Add(-need) }, nil
}
