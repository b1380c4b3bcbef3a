package kafka

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/internal/kafkatest"
	"github.com/sluicedata/sluice/source"
	"github.com/sluicedata/sluice/storage/retry"
)

func TestTransactionsUnderBothIsolationLevels(t *testing.T) {
	onBoth(t, func(t *testing.T, c *kafkatest.Cluster) {
		topic := c.Topic(t, 1)
		tx := c.Begin(t)
		tx.Produce(t, topic, 0, kafkatest.Records("aborted", 2)...)
		tx.Abort(t)
		tx = c.Begin(t)
		tx.Produce(t, topic, 0, kafkatest.Records("committed", 2)...)
		tx.Commit(t)
		c.AwaitStable(t, topic, 0, 6) // 0-1 aborted, 2 marker, 3-4 committed, 5 marker
		open := c.Begin(t)
		open.Produce(t, topic, 0, kafkatest.Records("open", 1)...)
		c.Produce(t, topic, 0, kafkatest.Record("behind"))

		var p *pipeline
		within(t, 2*time.Second, func() { // it waits for no transaction
			p = begin(t, c, nil, topic)
			committed := p.all(source.Limits{})
			expect(t, "read_committed", []string{topic + "/0@3=committed-0", topic + "/0@4=committed-1"}, committed)
			expect(t, "its range", []string{"0 [0, 6)"}, spans(p.plans[0]))
		})
		checkOpenTransactionIsSeen(t, c, p, topic)

		u := begin(t, c, func(cfg *Config) { cfg.Isolation = ReadUncommitted }, topic)
		if got := u.all(source.Limits{}); len(got) != 7 {
			t.Errorf("read_uncommitted: %d records, want 7: %v", len(got), got)
		}
		expect(t, "its range", []string{"0 [0, 9)"}, spans(u.plans[0]))

		// A position behind the last stable offset, since the isolation was changed, waits and is no error.
		u.restart(func(cfg *Config) { cfg.Isolation = ReadCommitted })
		if got := u.all(source.Limits{}); got != nil {
			t.Errorf("records behind an open transaction: %v", got)
		}

		open.Commit(t)
		c.AwaitStable(t, topic, 0, 10)
		want := []string{topic + "/0@6=open-0", topic + "/0@7=behind", topic + "/0@8=more behind"}
		expect(t, "after the commit", want, p.all(source.Limits{}))
	})
}

func checkOpenTransactionIsSeen(t *testing.T, c *kafkatest.Cluster, p *pipeline, topic string) {
	t.Helper()
	lags, err := p.source.Lag(t.Context())
	if err != nil || len(lags) != 1 || lags[0].Position != 6 || lags[0].End != 6 {
		t.Fatalf("lag %+v, %v", lags, err)
	}
	if want := "open transaction holds the last stable offset at 6"; !strings.Contains(lags[0].Note, want) {
		t.Errorf("note %q, want %q", lags[0].Note, want)
	}
	c.Produce(t, topic, 0, kafkatest.Record("more behind"))
	p.next(source.Limits{})
	lags, err = p.source.Lag(t.Context())
	if err != nil || !strings.Contains(lags[0].Note, "6 does not move while the high watermark grows (now 9)") {
		t.Errorf("lag of a stuck last stable offset: %+v, %v", lags, err)
	}
}

func TestOnlyAbortedRecordsEndAtOnceAndAreRead(t *testing.T) {
	onBoth(t, func(t *testing.T, c *kafkatest.Cluster) {
		topic := c.Topic(t, 1)
		tx := c.Begin(t)
		tx.Produce(t, topic, 0, kafkatest.Records("aborted", 1000)...)
		tx.Abort(t)
		c.AwaitStable(t, topic, 0, 1001)
		p := begin(t, c, nil, topic)
		for _, limit := range []int64{1, 300, 0} { // also ends within the transaction
			planned := p.next(source.Limits{MaxRecords: limit})
			if records, lost := p.read(planned.Ranges); records != nil || lost != nil {
				t.Errorf("read %v: %v, lost %v", planned.Ranges, records, lost)
			}
		}
		expect(t, "last range", []string{"0 [301, 1001)"}, spans(p.plans[2]))
	})
}

// An aborted record, then a marker, is all that the range holds: no client delivers anything for it.
func TestRangeThatEndsBeforeAMarker(t *testing.T) {
	onBoth(t, func(t *testing.T, c *kafkatest.Cluster) {
		topic := c.Topic(t, 1)
		a, b := c.Begin(t), c.Begin(t)
		a.Produce(t, topic, 0, kafkatest.Record("a"))
		b.Produce(t, topic, 0, kafkatest.Record("b"))
		a.Abort(t)
		kafkatest.Eventually(t, "wait for the marker", func() error {
			if _, stable, high := c.Bounds(t, topic, 0); stable != 1 || high != 3 {
				return fmt.Errorf("last stable offset %d, high watermark %d", stable, high)
			}
			return nil
		})
		p := begin(t, c, nil, topic)
		if got := p.all(source.Limits{}); got != nil {
			t.Errorf("records: %v", got)
		}
		expect(t, "plan", []string{"0 [0, 1)"}, spans(p.plans[0]))
		b.Commit(t)
		c.AwaitStable(t, topic, 0, 4)
		expect(t, "then", []string{topic + "/0@1=b"}, p.all(source.Limits{}))
	})
}

func TestReadWaitsForAnOpenTransactionThatWasPlannedUncommitted(t *testing.T) {
	c := kafkatest.Fake(t)
	topic := c.Topic(t, 1)
	open := c.Begin(t)
	open.Produce(t, topic, 0, kafkatest.Records("v", 2)...)
	p := begin(t, c, func(cfg *Config) { cfg.Isolation = ReadUncommitted }, topic)
	ranges := p.next(source.Limits{}).Ranges
	said := make(chan string, 10)
	p.restart(func(cfg *Config) {
		cfg.Isolation = ReadCommitted
		cfg.Outages = retry.NewOutages(func(s string) { said <- s })
	})
	var records []string
	done := make(chan error, 1)
	go func() {
		_, err := p.source.Read(t.Context(), ranges, func(b *source.Block) error {
			records = append(records, describe(b)...)
			return nil
		})
		done <- err
	}()
	if s := <-said; !strings.Contains(s, "last stable offset 0, high watermark 2") {
		t.Errorf("notice %q", s)
	}
	open.Commit(t)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	expect(t, "records", []string{topic + "/0@0=v-0", topic + "/0@1=v-1"}, records)
	if s := <-said; !strings.Contains(s, "works again") {
		t.Errorf("notice %q", s)
	}
}

// A transaction that is open when the broker dies holds the last stable offset until its timeout, and then no longer.
func TestOpenTransactionHoldsTheEndAcrossAKill(t *testing.T) {
	n := kafkatest.Broker(t)
	var topic string
	var p *pipeline
	held := int64(-1)
	for tries := 0; held != 0; tries++ {
		if tries == 5 {
			t.Fatal("no transaction was open until a plan was made")
		}
		topic = n.Topic(t, 1)
		open := n.Begin(t, kgo.TransactionTimeout(5*time.Second))
		open.Produce(t, topic, 0, kafkatest.Record("never committed"))
		n.Produce(t, topic, 0, kafkatest.Record("behind"))
		p = begin(t, n.Cluster, nil, topic)
		planned := spans(p.next(source.Limits{}).Ranges)
		if _, held, _ = n.Bounds(t, topic, 0); held == 0 { // on a busy machine it may have been open for too long
			expect(t, "plan", []string{"0 [0, 0)"}, planned)
		}
	}
	n.Restart(t)
	p.restart(nil)
	kafkatest.Eventually(t, "wait for the broker to abort the transaction", func() error {
		if planned := p.next(source.Limits{}); moves(planned.Ranges) {
			return nil
		}
		return errors.New("the last stable offset is still held")
	})
	records, _ := p.read(p.plans[len(p.plans)-1])
	expect(t, "records", []string{topic + "/0@1=behind"}, records)
}
