package main

import (
	"encoding/json"
	"fmt"
	"io"
)

// report is what a run found.
type report struct {
	Command string   `json:"command"`
	Machine machine  `json:"machine"`
	Records int64    `json:"records"`
	Rounds  int      `json:"rounds"`
	Rows    []result `json:"rows"`
}

// result is a row's.
type result struct {
	Name       string    `json:"name"`
	Means      string    `json:"means,omitempty"`
	LeftOut    string    `json:"left_out,omitempty"` // why there is nothing else
	Contenders []samples `json:"contenders,omitempty"`
}

// samples are a contender's runs, one a round.
type samples struct {
	Name string   `json:"name"`
	Runs []sample `json:"runs"`
}

func (s samples) each(of func(sample) float64) []float64 {
	out := make([]float64, len(s.Runs))
	for i, run := range s.Runs {
		out[i] = of(run)
	}
	return out
}

// ratios divides the runs of a contender by those of the first, round by round. Of runs over different numbers of records it is a record's
// cost that is divided.
func (s samples) ratios(first samples, of func(sample) float64) []float64 {
	out := s.each(of)
	for i, ours := range first.each(of) {
		out[i] /= ours
		if mine, others := first.Runs[i].Records, s.Runs[i].Records; mine > 0 && others > 0 {
			out[i] *= float64(mine) / float64(others)
		}
	}
	return out
}

func wall(s sample) float64      { return s.Wall }
func cpu(s sample) float64       { return s.CPU }
func megabytes(b int64) float64  { return float64(b) / 1e6 }
func rss(s sample) float64       { return megabytes(s.RSS) }
func size(s sample) float64      { return megabytes(s.Bytes) }
func perSecond(s sample) float64 { return float64(s.Records) / s.CPU / 1000 }

func (r report) write(w io.Writer, form string) error {
	if form == "json" {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	_, err := io.WriteString(w, r.document().markdown())
	return err
}

// made is the run in words.
func (r report) made() string {
	m := r.Machine
	return fmt.Sprintf("`%s`: %s, on %s, %d cores, %s; load of the machine before %s, after %s.", r.Command, m.Version, m.Processor, m.Cores, m.Kernel, m.LoadBefore, m.LoadAfter)
}

// document is the report as a table by itself.
func (r report) document() document {
	var d document
	for _, row := range r.Rows {
		d = append(d, entry{name: row.Name, lines: row.lines(), made: r.made(), leftOut: row.LeftOut != ""})
	}
	return d
}

// lines are a row's in the table, as many cells each as there are columns.
func (r result) lines() [][]string {
	if r.LeftOut != "" {
		cells := make([]string, len(columnsOfTable()))
		cells[0], cells[1] = r.Name, "left out: "+r.LeftOut
		return [][]string{cells}
	}
	var lines [][]string
	for i, c := range r.Contenders {
		lines = append(lines, append(append([]string{r.title(i), c.Name}, r.ratios(i)...),
			spread(c.each(cpu)), spread(c.each(wall)), known(c, perSecond), known(c, rss), known(c, size)))
	}
	return lines
}

// title stands before the first contender alone.
func (r result) title(i int) string {
	switch {
	case i > 0:
		return ""
	case r.Means != "":
		return r.Name + " (" + r.Means + ")"
	default:
		return r.Name
	}
}

func (r result) ratios(i int) []string {
	if i == 0 {
		return []string{"1", "1"}
	}
	c, first := r.Contenders[i], r.Contenders[0]
	return []string{"**" + spread(c.ratios(first, cpu)) + "**", "**" + spread(c.ratios(first, wall)) + "**"}
}

// known is a median, or nothing where there is none.
func known(c samples, of func(sample) float64) string {
	if m := median(c.each(of)); m > 0 {
		return digits(m)
	}
	return ""
}
