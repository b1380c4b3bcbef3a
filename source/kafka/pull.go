package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/sluicedata/sluice/offsetlog"
)

const (
	// corruptTries is how often a damaged batch is fetched again before it counts as damaged on the broker's disk.
	corruptTries = 3
	// stallNotice is how long a planned offset may stay out of reach before it is said, and before the end of the log is
	// looked at: a new leader may need a moment until its high watermark is what the old one's was.
	stallNotice = 3 * time.Second
)

// puller moves a fetch position through one range. The range is done when the position has passed its end.
type puller struct {
	reader   *reader
	job      *job
	position int64
	typical  int64 // bytes to reserve for the next response
	inflated int   // bytes of the newest response that came compressed
	stale    time.Time
	damaged  int
	grace    patience
	stalled  time.Time // since when fetches bring nothing
}

func (p *puller) what() string { return "read " + p.job.partition.String() }

// step fetches once, waiting as long as it takes, and passes on what came.
func (p *puller) step(ctx context.Context) error {
	rd, number := p.reader, p.job.number
	if err := rd.ahead.Reserve(ctx, number, p.typical); err != nil {
		return fmt.Errorf("%s: %w", p.what(), err)
	}
	reserved := p.typical
	var got fetched
	err := rd.source.cluster.retry(ctx, p.what(), func(ctx context.Context) error {
		var err error
		got, err = p.attempt(ctx)
		return err
	})
	if err != nil {
		rd.ahead.Settle(number, -reserved)
		return err
	}
	if got.next == p.position {
		rd.ahead.Settle(number, -reserved)
		rd.source.cluster.recycle(got.records)
		return p.stall(ctx, got)
	}
	p.moved()
	from := p.position
	p.position = got.next
	if got.lost {
		rd.ahead.Settle(number, -reserved)
		return nil
	}
	rd.source.sizes.observe(p.job.partition, got.records.bytes, got.next-from)
	p.inflated = len(got.records.inflated)
	held := got.records.memory()
	rd.ahead.Settle(number, held-reserved)
	p.typical = max(held, 1)
	select {
	case p.job.chunks <- got.records:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", p.what(), context.Cause(ctx))
	}
}

// attempt asks the leader once.
func (p *puller) attempt(ctx context.Context) (fetched, error) {
	c, cfg := p.reader.source.cluster, p.reader.source.cfg
	t, err := c.refresh(ctx, p.reader.topics, p.stale)
	if err != nil {
		p.stale = time.Now()
		return fetched{}, err
	}
	got, err := p.ask(ctx, c, cfg, t)
	if err != nil {
		p.stale = time.Now()
	}
	return got, err
}

func (p *puller) ask(ctx context.Context, c *cluster, cfg Config, t *topology) (fetched, error) {
	info := t.topics[p.job.partition.topic]
	switch {
	case info == nil:
		return fetched{}, p.grace.missing(p.job.partition.topic, &DeletedError{Name: p.job.partition.topic})
	case !sameTopic(info.id, p.job.planned.ID):
		return p.recreated(cfg, info.id)
	}
	leader, err := t.leader(p.job.partition)
	if err != nil {
		return fetched{}, err
	}
	id := p.job.topicID
	if id == ([16]byte{}) {
		id = info.rawID
	}
	got, err := c.fetch(ctx, leader, fetchRequest{
		partition: p.job.partition, topicID: id, offset: p.position, end: p.job.planned.To, level: cfg.Isolation,
		maxBytes: cfg.FetchMaxBytes, maxPartitionBytes: p.wanted(cfg), inflated: p.inflated,
	})
	var corrupt *corruptError
	switch {
	case errors.Is(err, kerr.OffsetOutOfRange):
		return p.outOfRange(ctx, c, cfg, t)
	case errors.As(err, &corrupt) && p.damaged < corruptTries:
		p.damaged++
		return fetched{}, fmt.Errorf("%v: %w", err, kerr.CorruptMessage) //nolint:errorlint // to be tried again, which the cause forbids
	case errors.Is(err, kerr.UnknownTopicOrPartition), errors.Is(err, kerr.UnknownTopicID):
		return fetched{}, fmt.Errorf("%w (topic id %s)", err, p.job.planned.ID)
	case err == nil:
		p.damaged, p.grace = 0, patience{}
	}
	return got, err
}

// wanted is how many bytes to ask for: no more than twice what the rest of the range may hold. Offsets without a record make
// sizes small, but not the batches that hold them.
func (p *puller) wanted(cfg Config) int32 {
	size, _ := p.reader.source.sizes.of(p.job.partition)
	rest := 2 * max(size, guessedSize) * float64(p.job.planned.To-p.position)
	return int32(min(float64(cfg.FetchMaxPartitionBytes), max(rest, sampleBytes)))
}

// outOfRange finds out which side of the log the position has fallen off.
func (p *puller) outOfRange(ctx context.Context, c *cluster, cfg Config, t *topology) (fetched, error) {
	one := []partition{p.job.partition}
	starts, err := c.listOffsets(ctx, t, one, askEarliest, ReadUncommitted)
	if err != nil {
		return fetched{}, err
	}
	highs, err := c.listOffsets(ctx, t, one, askLatest, ReadUncommitted)
	if err != nil {
		return fetched{}, err
	}
	start, high := starts[p.job.partition], highs[p.job.partition]
	switch {
	case p.position < start && cfg.OnDataLoss == LossSkipped:
		return p.lose(min(start, p.job.planned.To)), nil
	case p.position < start:
		return fetched{}, &DataLostError{Gaps: []offsetlog.Range{p.gap(min(start, p.job.planned.To))}}
	case p.position > high:
		return fetched{}, &TruncatedError{Partition: p.job.planned.Partition, Position: p.position, End: high}
	}
	return fetched{}, fmt.Errorf("offset %d is out of range, yet the log is [%d, %d): %w", p.position, start, high, kerr.OffsetNotAvailable)
}

// recreated treats the rest of the range, of which the topic is gone.
func (p *puller) recreated(cfg Config, found string) (fetched, error) {
	if cfg.TopicRecreated == RecreatedFromEarliest {
		return p.lose(p.job.planned.To), nil
	}
	return fetched{}, &RecreatedError{Topic: p.job.partition.topic, Known: p.job.planned.ID, Found: found}
}

func (p *puller) gap(to int64) offsetlog.Range {
	return offsetlog.Range{Partition: p.job.planned.Partition, ID: p.job.planned.ID, From: p.position, To: to, Lost: true}
}

// lose gives up the offsets up to to.
func (p *puller) lose(to int64) fetched {
	p.job.lost = append(p.job.lost, p.gap(to))
	return fetched{next: to, lost: true}
}

// moved ends a stall.
func (p *puller) moved() {
	if p.stalled.IsZero() {
		return
	}
	p.stalled = time.Time{}
	p.reader.source.cluster.outages.Over(p.what())
}

// stall waits for offsets that were planned and are not there: a leader that is behind the one that planned, or an open
// transaction, when the plan was made under read_uncommitted. A log that ends before the range is a *TruncatedError.
func (p *puller) stall(ctx context.Context, got fetched) error {
	if p.stalled.IsZero() {
		p.stalled = time.Now()
	}
	p.stale = time.Now()
	if time.Since(p.stalled) >= stallNotice {
		if err := p.checkEnd(ctx); err != nil {
			return err
		}
		p.reader.source.cluster.outages.Report(p.what(), p.stalled, &StalledError{fmt.Sprintf(
			"%s: offset %d of the planned [%d, %d) cannot be read yet: last stable offset %d, high watermark %d",
			p.what(), p.position, p.job.planned.From, p.job.planned.To, got.stable, got.high)})
	}
	if err := sleep(ctx, backoffMin); err != nil {
		return fmt.Errorf("%s: %w", p.what(), err)
	}
	return nil
}

// checkEnd refuses a log that ends before the range. Leaders answer only when they know their high watermark (KIP-207).
func (p *puller) checkEnd(ctx context.Context) error {
	c, one := p.reader.source.cluster, []partition{p.job.partition}
	return c.retry(ctx, p.what(), func(ctx context.Context) error {
		t, err := c.refresh(ctx, p.reader.topics, p.stale)
		if err != nil {
			return err
		}
		highs, err := c.listOffsets(ctx, t, one, askLatest, ReadUncommitted)
		if err != nil {
			return err
		}
		if high := highs[p.job.partition]; high < p.job.planned.To {
			return &TruncatedError{Partition: p.job.planned.Partition, Position: p.job.planned.To, End: high}
		}
		return nil
	})
}
