package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/pipeline"
)

func (a *app) statusCommand() *cobra.Command {
	return a.inspect("status FILE.yaml", "Show where a pipeline stands: batches, positions, lag, the last error",
		func(cmd *cobra.Command, p *pipeline.Pipeline, out *output) error {
			s, err := p.Status(cmd.Context())
			if s == nil {
				return err
			}
			return errors.Join(out.print(a.stdout, s, func(w io.Writer) { printStatus(w, s) }), err)
		})
}

func (a *app) auditCommand() *cobra.Command {
	cmd := a.inspect("audit FILE.yaml", "Prove from the table's log alone that every range was committed once",
		func(cmd *cobra.Command, p *pipeline.Pipeline, out *output) error {
			report, err := p.Audit(cmd.Context())
			if err != nil {
				return err
			}
			return errors.Join(out.print(a.stdout, report, func(w io.Writer) { printAudit(w, report) }), report.Err())
		})
	cmd.Long = `Prove from the table's log alone that every range was committed once: no gap, no overlap, no file twice.

The exit code is 3 when a fault is found; each fault is printed with the table version and the batch that it is in.`
	return cmd
}

// inspect makes a verb that looks at a pipeline.
func (a *app) inspect(use, short string, look func(*cobra.Command, *pipeline.Pipeline, *output) error) *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use: use, Short: short, Args: exactly("FILE.yaml"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := out.check(); err != nil {
				return err
			}
			f, err := pipeline.Load(args[0], os.LookupEnv)
			if err != nil {
				return err
			}
			p, err := pipeline.Build(f, pipeline.BuildOptions{Version: version, Judge: judge, Events: batch.Events{Notice: func(text string) { a.log.Warn(text) }}})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, p.Close()) }()
			return look(cmd, p, &out)
		},
	}
	out.flag(cmd)
	return cmd
}

func printStatus(w io.Writer, s *batch.Status) {
	row(w, "pipeline", s.Pipeline)
	printTrouble(w, s)
	row(w, "planned batch", known(s.Planned))
	row(w, "committed batch", known(s.Committed))
	row(w, "table version", known(s.Version))
	row(w, "rows committed", number(s.Rows))
	row(w, "bad records", number(s.Bad))
	if s.Tombstones > 0 {
		row(w, "tombstones", number(s.Tombstones))
	}
	row(w, "memory", memoryLine(s.Memory))
	for _, c := range s.Maintenance {
		row(w, c.Work, choreLine(c))
	}
	for _, n := range s.Notices {
		row(w, "notice", n)
	}
	if s.Refused != "" {
		fmt.Fprintf(w, "\nA run would be %s\n", s.Refused)
	}
	if len(s.Unknown) > 0 {
		fmt.Fprintln(w)
		row(w, "UNKNOWN FIELD", "RECORDS")
		for _, path := range slices.Sorted(maps.Keys(s.Unknown)) {
			row(w, path, number(s.Unknown[path]))
		}
	}
	fmt.Fprintln(w)
	row(w, "PARTITION", "POSITION", "END", "LAG", "NOTE")
	for _, l := range s.Positions {
		row(w, l.Partition, l.Position, l.End, l.End-l.Position, l.Note)
	}
}

// printTrouble says what keeps the pipeline from going on, or that nothing does, and what did last.
func printTrouble(w io.Writer, s *batch.Status) {
	last := s.LastError
	switch {
	case s.Unreachable != "":
		row(w, "state", fmt.Sprintf("%s: not all could be read", words(s.State)))
	case last == nil || last.Past || s.Refused != "":
		row(w, "state", words(s.State))
	default:
		row(w, "state", fmt.Sprintf("%s (%s), since %s", words(s.State), last.Kind, clock(last.Since)))
	}
	if last == nil {
		return
	}
	said := fmt.Sprintf("%s: %s", clock(last.Time), oneLine(last.Error))
	switch {
	case last.Past:
		row(w, "past error", said)
		return
	case last.State == batch.Waiting:
		row(w, "waiting", said)
	default:
		row(w, "last error", said)
	}
	row(w, "what to do", oneLine(last.Remedy))
}

// choreLine tells when a table was maintained, and why it was not.
func choreLine(c batch.Chore) string {
	line := c.Table
	if d := c.Done; d != nil {
		line += fmt.Sprintf("  done %s: %s files (%s), version %d", clock(d.Time), number(d.Files), size(d.Bytes), d.Version)
	}
	if f := c.Failed; f != nil {
		line += fmt.Sprintf("  failed %s: %s; %s", clock(f.Time), oneLine(f.Error), f.Remedy)
	}
	return line
}

func words(c batch.Class) string { return strings.ReplaceAll(string(c), "_", " ") }

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// memoryLine tells limit, budget, shares and the newest batch's peak.
func memoryLine(m batch.MemoryStatus) string {
	var shares []string
	for _, account := range slices.Sorted(maps.Keys(m.Shares)) {
		shares = append(shares, account+" "+size(m.Shares[account]))
	}
	line := fmt.Sprintf("%s, of it for data %s: %s", size(m.Limit), size(m.Budget), strings.Join(shares, ", "))
	if m.Peak > 0 {
		line += "; the newest batch held " + size(m.Peak)
	}
	return line
}

func printAudit(w io.Writer, r *batch.AuditReport) {
	if r.Commits == 0 {
		fmt.Fprintf(w, "The table's %d versions hold no batch of pipeline %s.\n", r.Versions, r.Pipeline)
	} else {
		fmt.Fprintf(w, "Batches %d to %d of pipeline %s: %d commits among %d versions, %s rows, %s bad records, %s positions lost at the source.\n\n",
			r.FirstBatch, r.LastBatch, r.Pipeline, r.Commits, r.Versions, number(r.Rows), number(r.Bad), number(r.Lost))
		row(w, "PARTITION", "FROM", "TO")
		for i, p := range r.Partitions {
			if i == shownRanges {
				fmt.Fprintf(w, "… and %d more\n", len(r.Partitions)-shownRanges)
				break
			}
			row(w, p.Partition, p.From, p.To)
		}
		fmt.Fprintln(w)
	}
	if r.From > 0 {
		fmt.Fprintf(w, "The table's log begins with version %d: what came before has been cleaned up, and was not looked at.\n", r.From)
	}
	for _, f := range r.Faults {
		fmt.Fprintf(w, "FAULT  version %d, batch %d: %s\n", f.Version, f.Batch, f.Problem)
	}
	if len(r.Faults) == 0 && r.Commits > 0 {
		fmt.Fprintln(w, "Every range was committed once: no gap, no overlap, no file twice.")
	}
}
