package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/source"
)

// validation is the result of validate.
type validation struct {
	File     string     `json:"file"`
	Pipeline string     `json:"pipeline,omitempty"`
	Valid    bool       `json:"valid"`
	Faults   []fault    `json:"faults"`
	Plan     *firstPlan `json:"first_plan,omitempty"`
	Notices  []string   `json:"notices"`
}

type fault struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Key     string `json:"key"`
	Problem string `json:"problem"`
	Fix     string `json:"fix"`
}

// firstPlan is what a pipeline without a past would read.
type firstPlan struct {
	Ranges  []offsetlog.Range `json:"ranges"`
	Records int64             `json:"records"` // estimate
	Bytes   int64             `json:"bytes"`
	More    bool              `json:"more"`
}

func (a *app) validateCommand() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "validate FILE.yaml",
		Short: "Check a pipeline file, and show what it would read first",
		Args:  exactly("FILE.yaml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			v := &validation{File: args[0], Faults: []fault{}, Notices: []string{}}
			f, err := pipeline.Load(args[0], os.LookupEnv)
			var faults pipeline.Faults
			switch {
			case errors.As(err, &faults):
				for _, f := range faults {
					v.Faults = append(v.Faults, fault{f.Line, f.Column, f.Path, f.Problem, f.Fix})
				}
				if out.form == "json" {
					return errors.Join(out.print(a.stdout, v, nil), err)
				}
				return err
			case err != nil:
				return err
			}
			v.Valid, v.Pipeline = true, f.Name
			if err := a.plan(cmd, f, v); err != nil {
				return err
			}
			return out.print(a.stdout, v, v.print)
		},
	}
	out.flag(cmd)
	return cmd
}

func (a *app) plan(cmd *cobra.Command, f *pipeline.File, v *validation) (err error) {
	if f.Source.Files != nil {
		f.Source.Files.Settle = 0 // what is young now is read soon
	}
	p, err := pipeline.Build(f, pipeline.BuildOptions{Version: version})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	planned, err := p.FirstPlan(cmd.Context())
	if err != nil {
		return fmt.Errorf("%s is without faults, but its source cannot be planned: %w", v.File, err)
	}
	v.Plan = &firstPlan{Ranges: append([]offsetlog.Range{}, planned.Ranges...), Records: planned.Records, Bytes: planned.Bytes, More: planned.More}
	v.Notices = append(v.Notices, planned.Notices...)
	if lag, err := p.Source.Lag(cmd.Context()); err == nil {
		v.Notices = append(v.Notices, notes(lag)...)
	}
	return nil
}

func notes(lag []source.Lag) (all []string) {
	for _, l := range lag {
		if l.Note != "" {
			all = append(all, l.Partition+": "+l.Note)
		}
	}
	return all
}

// shownRanges is how many ranges a table shows of a plan.
const shownRanges = 20

func (v *validation) print(w io.Writer) {
	fmt.Fprintf(w, "%s is a valid pipeline file (pipeline %s).\n", v.File, v.Pipeline)
	for _, n := range v.Notices {
		fmt.Fprintln(w, n)
	}
	if len(v.Plan.Ranges) == 0 {
		fmt.Fprintln(w, "There is nothing to read at present.")
		return
	}
	more := ""
	if v.Plan.More {
		more = ", and there is more"
	}
	fmt.Fprintf(w, "A first batch would read about %s records, %s%s:\n\n", number(v.Plan.Records), size(v.Plan.Bytes), more)
	row(w, "PARTITION", "FROM", "TO")
	for i, r := range v.Plan.Ranges {
		if i == shownRanges {
			fmt.Fprintf(w, "… and %d more\n", len(v.Plan.Ranges)-shownRanges)
			break
		}
		row(w, r.Partition, r.From, r.To)
	}
}
