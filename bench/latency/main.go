// Command latency produces records at a pace to a topic that a pipeline reads, and prints the seconds from each record's
// acknowledgement to the version of the table that has it: latency BROKER TOPIC TABLE RECORDS PER_SECOND
//
// The topic has four partitions, the producer waits for nothing before it sends. A version is there when a reader that
// looks for the next file of the table's log each millisecond can read it; which records it has, its commit's metadata say.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/internal/events"
)

const (
	partitions = 4
	lookEvery  = time.Millisecond
	// patience is how long the last record may take.
	patience = 30 * time.Second
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "latency:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 5 {
		return fmt.Errorf("%d arguments: it takes BROKER TOPIC TABLE RECORDS PER_SECOND", len(args))
	}
	records, err1 := strconv.Atoi(args[3])
	pace, err2 := strconv.Atoi(args[4])
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(args[0]), kgo.DefaultProduceTopic(args[1]), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0))
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var a acknowledged
	go func() {
		if err := a.produce(ctx, client, records, pace); err != nil {
			stop(err)
		}
	}()
	seconds, err := a.appear(ctx, filepath.Join(args[2], "_delta_log"), records)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(seconds)
}

// acknowledged is when the broker had each record, by partition ("topic/3") and offset. Safe for concurrent use.
type acknowledged struct {
	mu sync.Mutex
	at map[string]map[int64]time.Time
}

func (a *acknowledged) add(r *kgo.Record) {
	now, partition := time.Now(), fmt.Sprintf("%s/%d", r.Topic, r.Partition)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.at == nil {
		a.at = map[string]map[int64]time.Time{}
	}
	if a.at[partition] == nil {
		a.at[partition] = map[int64]time.Time{}
	}
	a.at[partition][r.Offset] = now
}

// produce sends the records, each at its time, and returns when all are acknowledged.
func (a *acknowledged) produce(ctx context.Context, client *kgo.Client, records, pace int) error {
	g := events.New(1)
	failed := make(chan error, 1)
	begun := time.Now()
	for i := range records {
		time.Sleep(time.Until(begun.Add(time.Duration(i) * time.Second / time.Duration(pace))))
		client.Produce(ctx, &kgo.Record{Value: g.Append(nil), Partition: int32(i % partitions)}, func(r *kgo.Record, err error) {
			if err == nil {
				a.add(r)
				return
			}
			select {
			case failed <- err:
			default:
			}
		})
	}
	if err := client.Flush(ctx); err != nil {
		return err
	}
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// appear follows the table's log until it has so many records, and returns how long each took.
func (a *acknowledged) appear(ctx context.Context, log string, records int) ([]float64, error) {
	var seconds []float64
	moved := time.Now()
	for version := int64(0); len(seconds) < records; {
		body, err := os.ReadFile(filepath.Join(log, fmt.Sprintf("%020d.json", version)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if time.Since(moved) > patience {
				return nil, fmt.Errorf("%d of %d records were in the table after %v: is a pipeline reading the topic?", len(seconds), records, patience)
			}
			if err := sleep(ctx, lookEvery); err != nil {
				return nil, err
			}
			continue
		case err != nil:
			return nil, err
		}
		moved = time.Now()
		c, err := commitlog.ParseCommit(version, body)
		if err != nil {
			return nil, err
		}
		if seconds, err = a.seen(ctx, c, moved, seconds); err != nil {
			return nil, err
		}
		version++
	}
	return seconds, nil
}

// seen appends what the records of a commit took that was there at a time.
func (a *acknowledged) seen(ctx context.Context, c *commitlog.Commit, at time.Time, seconds []float64) ([]float64, error) {
	if c.Info == nil {
		return seconds, nil
	}
	record := batch.ParseRecord(c.Info.UserMetadata)
	if record == nil {
		return seconds, nil
	}
	for _, r := range record.Ranges {
		for offset := r.From; offset < r.To; offset++ {
			acknowledged, err := a.wait(ctx, r.Partition, offset)
			if err != nil {
				return nil, err
			}
			seconds = append(seconds, max(0, at.Sub(acknowledged).Seconds()))
		}
	}
	return seconds, nil
}

// wait returns when a record was acknowledged, which the table may have before that is known here.
func (a *acknowledged) wait(ctx context.Context, partition string, offset int64) (time.Time, error) {
	for {
		a.mu.Lock()
		at, known := a.at[partition][offset]
		a.mu.Unlock()
		if known {
			return at, nil
		}
		if err := sleep(ctx, lookEvery); err != nil {
			return at, err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
