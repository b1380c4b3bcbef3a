package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
)

// warmUp is how many batches Spark has done before it counts as warm: by then the JVM has compiled what runs most.
const warmUp = 2

// sparkFiles is Spark Structured Streaming over an input's files, a batch each.
func (b *bench) sparkFiles(w work) contender {
	return b.spark(w, func(ctx context.Context) (string, error) {
		in, err := b.input(ctx, w.shape, w.records, w.files)
		return in.folder, err
	})
}

// sparkKafka is the same over a topic, in four batches.
func (b *bench) sparkKafka(w work) contender {
	return b.spark(w, func(ctx context.Context) (string, error) {
		t, err := b.topic(ctx, w.records)
		return "kafka://" + t.broker + "/" + t.name, err
	})
}

// spark is Spark Structured Streaming into a Delta table; and its batches behind the warm-up by themselves.
func (b *bench) spark(w work, from func(ctx context.Context) (string, error)) contender {
	const batches = 4
	run := func(ctx context.Context, out string) (sample, error) {
		source, err := from(ctx)
		if err != nil {
			return sample{}, err
		}
		script := b.script("spark_stream.py", source, out, structOf(w.shape.columns), w.codec, strconv.Itoa(w.cores), strconv.FormatInt((w.records+batches-1)/batches, 10))
		s, got, err := runProcess(ctx, pinned(w.cores, script...))
		if err != nil {
			return s, err
		}
		s.Records = w.records
		warm, err := warmOf(got.stdout, w.records)
		s.also = []sample{warm}
		return s, err
	}
	return contender{name: "Spark Structured Streaming, whole run", also: []string{"the same, warm batches"}, disk: w.disk, run: run}
}

// warmOf sums up the batches behind the warm-up of those that spark_stream.py printed, which have so many records in all.
func warmOf(printed []byte, records int64) (sample, error) {
	var batches []struct {
		Records   int64
		Wall, CPU float64
	}
	if err := json.Unmarshal(printed, &batches); err != nil {
		return sample{}, fmt.Errorf("spark_stream.py: no list of batches: %w: %s", err, printed)
	}
	var warm sample
	for i, batch := range batches {
		records -= batch.Records
		if i >= warmUp {
			warm.Records += batch.Records
			warm.Wall += batch.Wall
			warm.CPU += batch.CPU
		}
	}
	if records != 0 || warm.Records == 0 {
		return warm, fmt.Errorf("spark_stream.py: %d records are missing from the batches, %d are in warm ones: %s", records, warm.Records, printed)
	}
	return warm, nil
}
