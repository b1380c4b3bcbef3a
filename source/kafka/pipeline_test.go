package kafka

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sluicedata/sluice/internal/kafkatest"
	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
)

// onBoth runs a test against a faked broker and the real one.
func onBoth(t *testing.T, test func(t *testing.T, c *kafkatest.Cluster)) {
	t.Helper()
	t.Run("kfake", func(t *testing.T) { test(t, kafkatest.Fake(t)) })
	t.Run("kafka", func(t *testing.T) { test(t, kafkatest.Broker(t).Cluster) })
}

// onReal runs a test against the real broker alone, where kfake is known to differ.
func onReal(t *testing.T, test func(t *testing.T, c *kafkatest.Cluster)) {
	t.Helper()
	test(t, kafkatest.Broker(t).Cluster)
}

// notices collects what Config.Notice gets.
type notices struct {
	mu   sync.Mutex
	list []string
}

func (n *notices) add(s string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, s)
}

func (n *notices) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.list, "\n")
}

// pipeline is a source together with the plans that were recorded, as the engine would keep them.
type pipeline struct {
	t      testing.TB
	config Config
	source *Source
	plans  [][]offsetlog.Range
}

// begin makes a pipeline without a past.
func begin(t testing.TB, c *kafkatest.Cluster, change func(*Config), topics ...string) *pipeline {
	t.Helper()
	p := &pipeline{t: t, config: Config{Brokers: c.Addrs, Topics: topics}}
	if change != nil {
		change(&p.config)
	}
	p.restart(nil)
	return p
}

// restart makes a new source with the recorded plans as history.
func (p *pipeline) restart(change func(*Config)) {
	p.t.Helper()
	if change != nil {
		change(&p.config)
	}
	if err := p.tryRestart(); err != nil {
		p.t.Fatalf("Restore: %v", err)
	}
}

func (p *pipeline) tryRestart() error {
	p.t.Helper()
	s, err := New(p.config)
	if err != nil {
		p.t.Fatalf("New: %v", err)
	}
	p.t.Cleanup(func() { _ = s.Close() })
	p.source = s
	return s.Restore(p.t.Context(), source.History{
		First: len(p.plans) == 0,
		Batches: func(fn func(int64, []offsetlog.Range) error) error {
			for i, ranges := range p.plans {
				if err := fn(int64(i), ranges); err != nil {
					return err
				}
			}
			return nil
		},
	})
}

// next plans a batch and records it.
func (p *pipeline) next(limits source.Limits) source.Planned {
	p.t.Helper()
	planned, err := p.source.Next(p.t.Context(), limits)
	if err != nil {
		p.t.Fatalf("Next: %v", err)
	}
	if len(planned.Ranges) > 0 {
		p.source.Advance(int64(len(p.plans)), planned.Ranges)
		p.plans = append(p.plans, planned.Ranges)
	}
	return planned
}

// read reads ranges, as "topic/0@5=value".
func (p *pipeline) read(ranges []offsetlog.Range) (records []string, lost []offsetlog.Range) {
	p.t.Helper()
	lost, err := p.source.Read(p.t.Context(), ranges, func(b *source.Block) error {
		records = append(records, describe(b)...)
		return nil
	})
	if err != nil {
		p.t.Fatalf("Read %v: %v", ranges, err)
	}
	return records, lost
}

// all plans and reads until nothing is new.
func (p *pipeline) all(limits source.Limits) []string {
	p.t.Helper()
	var records []string
	for {
		planned := p.next(limits)
		if !moves(planned.Ranges) {
			return records
		}
		got, _ := p.read(planned.Ranges)
		records = append(records, got...)
	}
}

// within wants a step to take no longer than most in one of a few tries: a busy machine may hold up any of them.
func within(t *testing.T, most time.Duration, step func()) {
	t.Helper()
	var took time.Duration
	for range 5 {
		begun := time.Now()
		step()
		if took = time.Since(begun); took <= most {
			return
		}
	}
	t.Errorf("it took %v, and no less when tried again", took)
}

func moves(ranges []offsetlog.Range) bool {
	return slices.ContainsFunc(ranges, func(r offsetlog.Range) bool { return r.Len() > 0 })
}

func describe(b *source.Block) []string {
	var records []string
	for i, v := range b.Values {
		text := "null"
		if v != nil {
			text = fmt.Sprintf("%.60s", v)
		}
		records = append(records, fmt.Sprintf("%s@%d=%s", b.Partition, b.Positions[i], text))
	}
	return records
}

func spans(ranges []offsetlog.Range) []string {
	var out []string
	for _, r := range ranges {
		_, number, _ := strings.Cut(r.String(), "/")
		out = append(out, number)
	}
	return out
}

func expect(t testing.TB, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(source.Block{})); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
