package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicedata/sluice/monitor"
	"github.com/sluicedata/sluice/pipeline"
)

func (a *app) runCommand() *cobra.Command {
	var (
		trigger        string
		maxBatches     int64
		parallelism    int
		adoptTable     bool
		topicRecreated string
		address        string
		profile        profiles
	)
	cmd := &cobra.Command{
		Use:   "run FILE.yaml",
		Short: "Run a pipeline by its trigger",
		Long: `Run a pipeline: go on where it stopped, and read what is new into the table, batch by batch.

The first SIGINT or SIGTERM ends the run cleanly: the batch in flight is finished or leaves no trace. The second ends it at
once, which is as safe: the next run goes on from what is in the table.`,
		Example: "  sluice run orders.yaml\n  sluice run orders.yaml --trigger 'every 10s'\n  sluice run orders.yaml --max-batches 1",
		Args:    exactly("FILE.yaml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := pipeline.Load(args[0], os.LookupEnv)
			if err != nil {
				return err
			}
			options := pipeline.BuildOptions{Version: version, MaxBatches: maxBatches, Parallelism: parallelism, Judge: judge}
			if trigger != "" {
				t, err := pipeline.ParseTrigger(trigger)
				if err != nil {
					return usageError{fmt.Errorf("--trigger %q: %w; %s", trigger, err, pipeline.TriggerForms)}
				}
				options.Trigger = &t
			}
			switch topicRecreated {
			case "", "fail":
			case "from-earliest":
				options.TopicRecreated = true
			default:
				return usageError{fmt.Errorf("--topic-recreated %q: write fail or from-earliest", topicRecreated)}
			}
			if maxBatches < 0 {
				return usageError{fmt.Errorf("--max-batches %d: write a number above 0, or 0 for no limit", maxBatches)}
			}
			if parallelism < 0 {
				return usageError{fmt.Errorf("--parallelism %d: write a number above 0, or 0 for one a core", parallelism)}
			}
			if _, _, err := net.SplitHostPort(address); address != "" && err != nil {
				return usageError{fmt.Errorf("--listen %q: write HOST:PORT, or :PORT for all addresses", address)}
			}
			stop, err := profile.start()
			if err != nil {
				return err
			}
			return errors.Join(a.run(cmd, f, options, adoptTable, address), stop())
		},
	}
	cmd.Flags().StringVar(&trigger, "trigger", "", `in place of the file's: available-now, continuous or "every 10s"`)
	cmd.Flags().Int64Var(&maxBatches, "max-batches", 0, "stop after so many batches; 0: no limit")
	cmd.Flags().IntVar(&parallelism, "parallelism", 0, "decode so many parts of the input, and encode so many columns, at a time; 0: one a core")
	cmd.Flags().BoolVar(&adoptTable, "adopt-table", false, "if the run would be refused, first make the checkpoint anew from the table's own record")
	cmd.Flags().StringVar(&topicRecreated, "topic-recreated", "", "what to do about a Kafka topic that was deleted and created again: fail or from-earliest")
	cmd.Flags().StringVar(&address, "listen", "", "HOST:PORT at which to answer /healthz, /readyz and /metrics while the run lasts")
	cmd.Flags().StringVar(&profile.cpu, "pprof", "", "write a profile of the processor's time to this file, for go tool pprof")
	cmd.Flags().StringVar(&profile.heap, "pprof-heap", "", "write a profile of allocated memory to this file when the run ends")
	return cmd
}

func (a *app) run(cmd *cobra.Command, f *pipeline.File, options pipeline.BuildOptions, adopt bool, address string) (err error) {
	watch := newWatch(a.log.With("pipeline", f.Name), a.stderr)
	defer watch.end()
	options.Events = watch.events()
	m, stop, err := listen(cmd.Context(), f.Name, address, watch, &options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if adopt {
		if err := a.adopt(cmd, f, options); err != nil {
			return err
		}
	}
	p, err := pipeline.Build(f, options)
	if err != nil {
		return err
	}
	m.Watch(p.Outages, p.Memory)
	defer func() { err = errors.Join(err, p.Close()) }()
	if _, set := os.LookupEnv("GOMEMLIMIT"); !set {
		debug.SetMemoryLimit(f.Memory)
	}
	if err := p.Run(cmd.Context()); err != nil {
		watch.failed(err)
		return err
	}
	watch.summary()
	return nil
}

// listen has a monitor told of the run, and answer at the address if there is one.
func listen(ctx context.Context, name, address string, w *watch, options *pipeline.BuildOptions) (*monitor.Monitor, func() error, error) {
	m := monitor.New(name, version, time.Now, judge)
	if address == "" {
		return m, func() error { return nil }, nil
	}
	at, stop, err := m.Serve(ctx, address)
	if err != nil {
		return nil, nil, err
	}
	w.log.Info("listening", "address", at)
	options.Events = options.Events.And(m.Events())
	options.Requested, options.Retried = m.Requested, m.Retried
	return m, stop, nil
}

// adopt makes the checkpoint anew, if the run would be refused.
func (a *app) adopt(cmd *cobra.Command, f *pipeline.File, options pipeline.BuildOptions) error {
	refused, err := a.wouldBeRefused(cmd, f, options)
	if err != nil {
		return err
	}
	if !refused {
		a.log.Info("checkpoint and table belong together: nothing to adopt", "pipeline", f.Name)
		return nil
	}
	p, err := pipeline.Build(f, options)
	if err != nil {
		return err
	}
	record, err := p.Adopt(cmd.Context())
	if err := errors.Join(err, p.Close()); err != nil {
		return err
	}
	a.log.Warn("the checkpoint was made anew from the table's record", "pipeline", f.Name, "batch", record.Batch, "partitions", len(record.Ranges))
	return nil
}

func (a *app) wouldBeRefused(cmd *cobra.Command, f *pipeline.File, options pipeline.BuildOptions) (bool, error) {
	p, err := pipeline.Build(f, options)
	if err != nil {
		return false, err
	}
	err = p.Engine.Check(cmd.Context())
	if closeErr := p.Close(); closeErr != nil {
		return false, errors.Join(err, closeErr)
	}
	if exitCode(err) == exitCorrupt {
		a.log.Warn(err.Error(), "pipeline", f.Name)
		return true, nil
	}
	return false, err
}
