package batch

import "fmt"

// recentCommits is how many of a pipeline's newest commits with files tell whether its files are too small.
const recentCommits = 50

// smallPart is the part of the wanted size that files have at least, on average, if nothing is to be said.
const smallPart = 16

// recentFiles are the files of a pipeline's newest commits.
type recentFiles struct {
	commits []filesOf // the newest last
}

type filesOf struct {
	n     int64
	bytes int64
}

func (r *recentFiles) take(n int, bytes int64) {
	if n == 0 {
		return
	}
	if len(r.commits) == recentCommits {
		r.commits = r.commits[1:]
	}
	r.commits = append(r.commits, filesOf{int64(n), bytes})
}

// tooSmall says that the files are too small for a table that wants them of target bytes, and what to do; empty when they are not,
// or when too few are known.
func (r *recentFiles) tooSmall(table string, target int64) string {
	if len(r.commits) < recentCommits {
		return ""
	}
	var all filesOf
	for _, c := range r.commits {
		all.n += c.n
		all.bytes += c.bytes
	}
	mean := all.bytes / all.n
	if mean >= target/smallPart {
		return ""
	}
	return fmt.Sprintf("the files of table %s get small: the newest %d commits made %d of %.1f kB on average, and it is to have files of %d MB; set batch.min_records and batch.max_delay, or a longer trigger, partition by less, and have small files compacted (maintenance.compact, or sluice compact by a timer)",
		table, len(r.commits), all.n, float64(mean)/1000, target/1_000_000)
}
