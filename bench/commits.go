package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// commit is what the program's log says of one, with --log-format json.
type commit struct {
	Msg  string        `json:"msg"`
	Took time.Duration `json:"took"` // from the look for new records to the commit that is there
	Rows int64         `json:"rows"`
}

// commits reads those of a log.
func commits(log []byte) ([]commit, error) {
	var out []commit
	for d := json.NewDecoder(bytes.NewReader(log)); ; {
		var c commit
		switch err := d.Decode(&c); {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("read the program's log: %w", err)
		case c.Msg == "committed":
			out = append(out, c)
		}
	}
}

// sluiceAppends is a run with a batch an append. The time is the median of a batch: JSON decoded, plan and rows and commit synced.
func (b *bench) sluiceAppends(name string, a appends, part func([]commit) []commit) contender {
	run := func(ctx context.Context, out string) (sample, error) {
		w := work{shape: shopEvents(), records: a.commits * a.rows, files: a.commits, codec: "snappy", batch: "max_files: 1", cores: 1}
		s, log, err := b.runSluice(ctx, w, out, "--log-format", "json")
		if err != nil {
			return s, err
		}
		all, err := commits(log)
		if err != nil {
			return s, err
		}
		if int64(len(all)) != a.commits {
			return s, fmt.Errorf("%d commits in the program's log instead of %d", len(all), a.commits)
		}
		var seconds []float64
		for _, c := range part(all) {
			seconds = append(seconds, c.Took.Seconds())
		}
		s.Wall = median(seconds)
		return s, nil
	}
	return contender{name: name, disk: true, run: run}
}
