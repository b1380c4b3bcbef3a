// Command generate lands benchmark records in a folder or a Kafka topic and prints what it made, as JSON.
//
//	go run ./internal/events/cmd/generate --records 1000000 --files 10 --seed 1 --out landing
//	go run ./internal/events/cmd/generate --records 1000000 --seed 1 --kafka localhost:9092 --topic events --partitions 4
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/sluicedata/sluice/internal/events"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	switch err := run(ctx, os.Args[1:]); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	fs := flag.NewFlagSet("generate", flag.ContinueOnError)
	seed := fs.Uint64("seed", 1, "the same seed gives the same records")
	step := fs.Duration("step", 3*time.Millisecond, "distance in time between two records")
	var l events.Landing
	fs.Int64Var(&l.Records, "records", 1000, "good records to make")
	fs.IntVar(&l.Files, "files", 1, "files to spread them over")
	fs.BoolVar(&l.Gzip, "gzip", false, "compress the files")
	fs.Int64Var(&l.BadEvery, "bad-every", 0, "add a bad record after every so many good ones")
	out := fs.String("out", "", "landing folder")
	brokers := fs.String("kafka", "", "brokers, as host:port separated by commas")
	topic := fs.String("topic", "events", "topic, made when it is missing")
	partitions := fs.Int("partitions", 4, "partitions of the topic")
	if err := fs.Parse(args); err != nil {
		return err
	}
	g := events.New(*seed)
	g.Step = *step
	if err := land(ctx, g, *out, *brokers, *topic, int32(*partitions), l); err != nil {
		return err
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(g.Summary())
}

func land(ctx context.Context, g *events.Generator, out, brokers, topic string, partitions int32, l events.Landing) error {
	switch {
	case (out == "") == (brokers == ""):
		return errors.New("no place to write to: give either --out FOLDER or --kafka BROKERS")
	case out != "":
		return events.WriteFiles(ctx, g, out, l)
	default:
		t := events.Topic{Brokers: strings.Split(brokers, ","), Name: topic, Partitions: partitions}
		return events.Produce(ctx, g, t, l)
	}
}
