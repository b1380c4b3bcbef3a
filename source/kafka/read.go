package kafka

import (
	"context"
	"encoding/base64"
	"fmt"
	"sync"
	"time"

	"github.com/sluicedata/sluice/memory"
	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
)

const (
	// window is how many partitions are fetched at once: the one being emitted, and those after it.
	window = 8
	// queued is how many responses of one partition may wait; the memory usually allows fewer.
	queued = 4
)

// Read fetches the ranges and hands them to emit in their order. Ranges marked Lost, and empty ones, are passed over.
// Brokers that do not answer are waited for until ctx ends.
//
// What the broker lost since the plan was made is a *DataLostError, or under on_data_loss: skip a Lost range in the
// result. The ranges of a topic that was created again are a *RecreatedError, or under topic_recreated: from-earliest
// Lost ranges. Other errors: *TruncatedError, *DeletedError.
func (s *Source) Read(ctx context.Context, ranges []offsetlog.Range, emit func(*source.Block) error) ([]offsetlog.Range, error) {
	jobs, err := newJobs(ranges)
	if err != nil {
		return nil, fmt.Errorf("read planned Kafka ranges: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	rd := &reader{source: s, ahead: s.cfg.Memory.ReadAhead(), topics: topicsOf(jobs), begun: time.Now()}
	defer func() {
		cancel()
		running.Wait()
		rd.ahead.Close()
	}()
	var lost []offsetlog.Range
	for i, j := range jobs {
		rd.ahead.MoveHead(i)
		for k := i; k < min(i+window, len(jobs)); k++ {
			if jobs[k].started {
				continue
			}
			jobs[k].started = true
			running.Go(func() { rd.run(ctx, jobs[k]) })
		}
		if err := rd.drain(j, emit); err != nil {
			return nil, err
		}
		lost = append(lost, j.lost...)
	}
	return lost, nil
}

// job is one range to read. The goroutine that runs it owns lost and err until it closes chunks.
type job struct {
	number    int
	planned   offsetlog.Range
	partition partition
	topicID   [16]byte
	started   bool
	chunks    chan *records // of one response each
	lost      []offsetlog.Range
	err       error
}

func newJobs(ranges []offsetlog.Range) ([]*job, error) {
	var jobs []*job
	for _, r := range ranges {
		p, err := parsePartition(r.Partition)
		if err != nil {
			return nil, err
		}
		if r.From < 0 || r.To < r.From {
			return nil, fmt.Errorf("%s is not a range", r)
		}
		if r.Lost || r.Len() == 0 {
			continue
		}
		j := &job{number: len(jobs), planned: r, partition: p, chunks: make(chan *records, queued)}
		if r.ID != "" {
			raw, err := base64.RawURLEncoding.DecodeString(r.ID)
			if err != nil || len(raw) != len(j.topicID) {
				return nil, fmt.Errorf("%s: %q is not a topic id", r, r.ID)
			}
			copy(j.topicID[:], raw)
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

func topicsOf(jobs []*job) []string {
	var topics []string
	seen := map[string]bool{}
	for _, j := range jobs {
		if !seen[j.partition.topic] {
			seen[j.partition.topic] = true
			topics = append(topics, j.partition.topic)
		}
	}
	return topics
}

// reader is one call of Read.
type reader struct {
	source *Source
	ahead  *memory.ReadAhead
	topics []string
	begun  time.Time
}

// drain emits what the job reads, until it is done.
func (rd *reader) drain(j *job, emit func(*source.Block) error) error {
	for r := range j.chunks {
		held := r.memory()
		freed := func() {
			rd.source.cluster.recycle(r)
			rd.ahead.Settle(j.number, -held)
		}
		if err := r.emit(j.partition, freed, emit); err != nil {
			return err
		}
	}
	return j.err
}

// run reads the job's range to its end, or to an error.
func (rd *reader) run(ctx context.Context, j *job) {
	defer close(j.chunks)
	p := puller{
		reader: rd, job: j, position: j.planned.From,
		typical: int64(rd.source.cfg.FetchMaxPartitionBytes),
		stale:   rd.begun, // leaders and ids are asked for once in a Read, and after errors
	}
	for p.position < j.planned.To {
		if j.err = p.step(ctx); j.err != nil {
			return
		}
	}
}
