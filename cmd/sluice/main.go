// Command sluice runs pipelines that move landing folders and Kafka topics into Delta Lake tables, exactly once, and looks
// into what they made.
//
// This is the only place that knows the process: flags, environment, signals, exit codes, and what is printed where.
// Results go to stdout, everything else to stderr. Each verb has a file of its own.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"
)

// version is set when the program is built.
var version = "unknown"

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the program without its process.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := stopOnSignal(context.Background(), stderr)
	defer stop()
	a := &app{stdout: stdout, stderr: stderr}
	root := a.command()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err != nil {
		fmt.Fprintf(stderr, "sluice: %v\n", err)
	}
	return exitCode(err)
}

// app is what the verbs share.
type app struct {
	stdout, stderr io.Writer
	log            *slog.Logger
	logFormat      string
	logLevel       string
	lead           string // of progress, where several tables are worked on
	hurry          bool   // maintenance does not rest
}

// progress is the line that shows how far a verb is.
func (a *app) progress() *progressLine {
	line := newProgressLine(a.stderr)
	if line != nil {
		line.lead = a.lead
	}
	return line
}

// usageError is a call that was put wrongly.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:           "sluice",
		Short:         "Kafka topics and landing folders into Delta Lake tables, exactly once",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(*cobra.Command, []string) error {
			log, err := newLogger(a.stderr, a.logFormat, a.logLevel)
			a.log = log
			return err
		},
	}
	root.PersistentFlags().StringVar(&a.logFormat, "log-format", "text", "form of the log on stderr: text or json")
	root.PersistentFlags().StringVar(&a.logLevel, "log-level", "info", "least level that is logged: debug, info, warn or error")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())}
	})
	root.AddCommand(a.initCommand(), a.validateCommand(), a.runCommand(), a.statusCommand(), a.auditCommand(), a.tableCommand(), a.compactCommand(), a.vacuumCommand(), a.maintainCommand(), a.fsckCommand(), a.versionCommand())
	return root
}

// exactly wants n arguments, named for the message.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		return usageError{fmt.Errorf("%s wants %v, got %d arguments; see %s --help", cmd.CommandPath(), names, len(args), cmd.CommandPath())}
	}
}
