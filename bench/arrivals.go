package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
)

// arrivals are records that come at a pace to a topic that the program reads.
type arrivals struct {
	records   int
	perSecond int
	batch     string // limits of a batch, as a YAML mapping
}

// arriving is the time from a record's acknowledgement to the version that has it: the median, and that which 99 of 100 records do not exceed. The
// rest of the sample is what the program takes meanwhile.
func (b *bench) arriving(name string, a arrivals) contender {
	run := func(ctx context.Context, out string) (s sample, err error) {
		latency, err := b.built(ctx, "latency")
		if err != nil {
			return s, err
		}
		t, err := b.namedTopic(ctx, "arrivals-"+filepath.Base(out), 0)
		if err != nil {
			return s, err
		}
		var seconds []float64
		s, err = b.waiting(ctx, work{shape: shopEvents(), codec: "snappy", batch: a.batch}, out, t.source(), func() error {
			_, got, err := runProcess(ctx, []string{latency, t.broker, t.name, filepath.Join(out, "table"), strconv.Itoa(a.records), strconv.Itoa(a.perSecond)})
			return errors.Join(err, json.Unmarshal(got.stdout, &seconds))
		})
		if err == nil && len(seconds) != a.records {
			err = fmt.Errorf("the times of %d records instead of %d", len(seconds), a.records)
		}
		if err != nil {
			return s, err
		}
		s.Wall, s.Records = median(seconds), int64(a.records)
		most := s
		most.Wall = quantile(seconds, 0.99)
		s.also = []sample{most}
		return s, nil
	}
	return contender{name: name + ", median", also: []string{"the same, 99 of 100"}, disk: true, run: run}
}
