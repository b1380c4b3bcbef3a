package commitlog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// misfits are actions of a commit that do not fit the table that it came upon: removes of files that were not there, and adds, as
// new rows, of files that were. The protocol has readers pass over them ("Action Reconciliation"), but whoever wrote them took the
// table for another one: where it meant to replace a file, the rows are there twice.
type misfits struct{ removes, adds []string } // paths

// misfits holds a commit against the state before it. To add a file again for its statistics or tags is no misfit: its rows are no
// change then.
func (s *State) misfits(p *parser) (m misfits) {
	added := map[FileKey]bool{}
	for i := range p.adds {
		a := &p.adds[i]
		key := a.key()
		if a.dataChange && s.Files.rowOf(key) != nil {
			m.adds = append(m.adds, string(a.path))
		}
		added[key] = true
	}
	for i := range p.removes {
		r := &p.removes[i]
		key := r.key()
		if !added[key] && s.Files.rowOf(key) == nil {
			m.removes = append(m.removes, string(r.path))
		}
	}
	return m
}

func (a *fileAction) key() FileKey { return FileKey{CanonicalPath(string(a.path)), a.vector.ID()} }

// tell makes faults of a commit's misfits, which name its writer.
func (v *verifier) tell(ctx context.Context, version int64, m misfits) error {
	if len(m.removes)+len(m.adds) == 0 {
		return nil
	}
	return v.log.fetch(ctx, version, version, full, func(p *parser) error {
		by := p.commit.writer()
		if len(m.removes) > 0 {
			v.fault(LogFault{commitKey(version), fmt.Sprintf(
				"version %d, by %s, removes files that are not in the table: %s; rows that it was to replace may be there twice", version, by, some(m.removes))})
		}
		if len(m.adds) > 0 {
			v.fault(LogFault{commitKey(version), fmt.Sprintf(
				"version %d, by %s, adds files as new that are in the table already: %s", version, by, some(m.adds))})
		}
		return nil
	})
}

// writer is who made a commit, and by which operation, as it says itself.
func (c *Commit) writer() string {
	if c.Info == nil {
		return "a writer that does not say who it is"
	}
	var old string // delta-rs called it so
	decodeAs(c.Info.Extra["clientVersion"], &old)
	by := cmp.Or(c.Info.EngineInfo, old, "an engine that does not say its name")
	if c.Info.Operation != "" {
		by += " (" + c.Info.Operation + ")"
	}
	return by
}

// some names the first of a list's paths, and how many there are.
func some(paths []string) string {
	if len(paths) == 1 {
		return paths[0]
	}
	return fmt.Sprintf("%s and %d more", paths[0], len(paths)-1)
}

// doubled tells of files that are in a table more than once, with other rows deleted each time.
func (v *verifier) doubled(version int64) {
	if v.state == nil {
		return
	}
	times := map[string]int{} // of those with a deletion vector: without one a file is there once
	for id, e := range v.state.Files.extras {
		if r := v.state.Files.rows.at(id); e.dv != nil && !r.dead {
			times[CanonicalPath(v.state.Files.path(r))]++
		}
	}
	if len(times) == 0 {
		return
	}
	for key := range v.state.Files.Keys() {
		if _, vectored := times[key.Path]; vectored && key.DV == "" {
			times[key.Path]++
		}
	}
	var twice []string
	for path, n := range times {
		if n > 1 {
			twice = append(twice, path)
		}
	}
	if slices.Sort(twice); len(twice) > 0 {
		v.fault(LogFault{commitKey(version), fmt.Sprintf("at version %d files are in the table more than once, with different deletion vectors: %s; their rows are there twice", version, some(twice))})
	}
}
