package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
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
	Contenders []samples `json:"contenders"`
}

// samples are a contender's runs, one a round.
type samples struct {
	Name string   `json:"name"`
	Runs []sample `json:"runs"`
}

// machine is where the run was.
type machine struct {
	Processor  string `json:"processor"`
	Cores      int    `json:"cores"`
	Kernel     string `json:"kernel"`
	Version    string `json:"version"` // of the program that was measured
	LoadBefore string `json:"load_before"`
	LoadAfter  string `json:"load_after"`
}

func thisMachine(program string) machine {
	return machine{
		Processor: processor(), Cores: runtime.NumCPU(), Kernel: firstLine("uname", "-sr"),
		Version: firstLine(program, "version"), LoadBefore: load(),
	}
}

// processor is the first that the kernel names; a machine that names none gets its architecture.
func processor() string {
	info, _ := os.ReadFile("/proc/cpuinfo") // absent where there is no such file system
	for line := range strings.Lines(string(info)) {
		if name, found := strings.CutPrefix(line, "model name"); found {
			return strings.Trim(name, "\t :\n")
		}
	}
	return runtime.GOARCH
}

// load is the kernel's average number of processes that want a processor, over 1, 5 and 15 minutes.
func load() string {
	average, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(average))[:3], " ")
}

func firstLine(command string, args ...string) string {
	out, err := exec.Command(command, args...).Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// quantile is the least number that so large a part of them do not exceed.
func quantile(of []float64, part float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[min(int(part*float64(len(sorted))), len(sorted)-1)]
}

// spread is median and range.
func spread(of []float64) string {
	return fmt.Sprintf("%s (%s–%s)", digits(median(of)), digits(slices.Min(of)), digits(slices.Max(of)))
}

// digits is a number with three digits that count.
func digits(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	case x >= 0.1:
		return fmt.Sprintf("%.2f", x)
	default:
		return fmt.Sprintf("%.4f", x)
	}
}

func (s samples) each(of func(sample) float64) []float64 {
	out := make([]float64, len(s.Runs))
	for i, run := range s.Runs {
		out[i] = of(run)
	}
	return out
}

// ratios divides the runs of a contender by those of the first, round by round.
func (s samples) ratios(first samples, of func(sample) float64) []float64 {
	out := s.each(of)
	for i, ours := range first.each(of) {
		out[i] /= ours
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
	_, err := io.WriteString(w, r.markdown())
	return err
}

func (r report) markdown() string {
	var b strings.Builder
	m := r.Machine
	fmt.Fprintf(&b, "`%s`: %s, on %s, %d cores, %s; load of the machine before %s, after %s.\n\n", r.Command, m.Version, m.Processor, m.Cores, m.Kernel, m.LoadBefore, m.LoadAfter)
	b.WriteString("| work | who | CPU, ratio | wall, ratio | CPU s | wall s | 1000 records a CPU s | peak RSS MB | output MB |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, row := range r.Rows {
		for i, c := range row.Contenders {
			fmt.Fprintf(&b, "| %s | %s |%s| %s | %s | %s | %s | %s |\n", row.title(i), c.Name, row.ratios(i),
				spread(c.each(cpu)), spread(c.each(wall)), known(c, perSecond), digits(median(c.each(rss))), known(c, size))
		}
	}
	return b.String()
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

func (r result) ratios(i int) string {
	if i == 0 {
		return " 1 | 1 "
	}
	c, first := r.Contenders[i], r.Contenders[0]
	return fmt.Sprintf(" **%s** | **%s** ", spread(c.ratios(first, cpu)), spread(c.ratios(first, wall)))
}

// known is a median, or nothing where there is none.
func known(c samples, of func(sample) float64) string {
	if m := median(c.each(of)); m > 0 {
		return digits(m)
	}
	return ""
}

// into replaces the results in a document.
func (r report) into(path string) error {
	const begin, end = "<!-- bench -->\n", "<!-- /bench -->"
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := bytes.Cut(text, []byte(begin))
	_, after, closed := bytes.Cut(rest, []byte(end))
	if !found || !closed {
		return errors.New(path + " has no place for results: write the lines " + begin + end)
	}
	return os.WriteFile(path, slices.Concat(before, []byte(begin), []byte(r.markdown()), []byte(end), after), 0o666)
}
