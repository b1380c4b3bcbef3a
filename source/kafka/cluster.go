package kafka

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicedata/sluice/storage/retry"
)

const (
	// missingGrace is how long a topic may be unknown before it counts as missing: brokers learn of new topics late.
	missingGrace = 3 * time.Second
	// attemptTimeout bounds one round of requests, so that a broker that holds its connections but does not answer is
	// noticed.
	attemptTimeout = 30 * time.Second
	backoffMin     = 50 * time.Millisecond
	backoffMax     = 2 * time.Second
)

// cluster asks the brokers of one cluster, and waits for them. Safe for concurrent use.
type cluster struct {
	client    *kgo.Client
	cfg       Config
	outages   *retry.Outages
	inflate   *inflater
	spare     sync.Pool   // of *records
	connected atomic.Bool // some request was answered

	mu       sync.Mutex // one refresh at a time; guards topology
	topology *topology
}

func newCluster(client *kgo.Client, cfg Config) *cluster {
	return &cluster{client: client, cfg: cfg, outages: cfg.Outages, inflate: newInflater(maxInflated), spare: sync.Pool{New: func() any { return new(records) }}}
}

// topology is the topics' ids and leaders at one time.
type topology struct {
	at     time.Time
	topics map[string]*topicInfo
}

type topicInfo struct {
	id      string
	rawID   [16]byte
	leaders map[int32]int32 // by partition; -1 while there is none
}

// retry repeats attempt until it succeeds, fails for good, or ctx ends. Once the cluster has been reached there is no
// other limit; the first contact has to succeed within Config.ConnectTimeout.
func (c *cluster) retry(ctx context.Context, what string, attempt func(context.Context) error) error {
	begun := time.Now()
	broken := "" // what was reported: one wait is one outage, though its errors change
	for wait := backoffMin; ; wait = min(wait*2, backoffMax) {
		one, cancel := context.WithTimeout(ctx, attemptTimeout)
		err := attempt(one)
		cancel()
		switch {
		case err == nil:
			c.outages.Over(broken)
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%s: %w", what, context.Cause(ctx))
		case permanent(err):
			return err
		case !waitable(err), c.hopeless(time.Since(begun)):
			return &RequestError{What: what, Address: c.cfg.address(), Err: err}
		}
		if c.cfg.Failed != nil {
			c.cfg.Failed(err)
		}
		if wait > backoffMin { // a connection that was closed, or a leader that moved, is daily business
			broken = cmp.Or(broken, cause(what, err))
			c.outages.Report(broken, begun, &RequestError{What: what, Address: c.cfg.address(), Err: err, Waiting: true})
		}
		if err := sleep(ctx, wait); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
}

// cause names what is broken: the connection, for all who use it, or one thing alone, when a broker says so.
func cause(what string, err error) string {
	var code *kerr.Error
	if errors.As(err, &code) {
		return what
	}
	return "reach Kafka"
}

// hopeless says whether a cluster that never answered is to be given up. One that hangs up is no exception: it may be
// behind a proxy, and away.
func (c *cluster) hopeless(waited time.Duration) bool {
	return !c.connected.Load() && waited >= c.cfg.ConnectTimeout
}

// sleep waits, or returns the cause of ctx's end.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// metadata asks for the topics, past all caches. A topic that does not exist is left out.
func (c *cluster) metadata(ctx context.Context, topics []string) (*topology, error) {
	req := kmsg.NewPtrMetadataRequest()
	for _, name := range topics {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = kmsg.StringPtr(name)
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(ctx, c.client)
	if err != nil {
		return nil, err
	}
	c.connected.Store(true)
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return nil, err
	}
	found := &topology{at: time.Now(), topics: map[string]*topicInfo{}}
	for _, t := range resp.Topics {
		if t.Topic == nil {
			continue
		}
		switch err := kerr.ErrorForCode(t.ErrorCode); {
		case errors.Is(err, kerr.UnknownTopicOrPartition):
			continue
		case err != nil:
			return nil, fmt.Errorf("topic %s: %w", *t.Topic, err)
		}
		info := &topicInfo{rawID: t.TopicID, id: topicID(t.TopicID), leaders: map[int32]int32{}}
		for _, p := range t.Partitions {
			info.leaders[p.Partition] = p.Leader
		}
		found.topics[*t.Topic] = info
	}
	return found, nil
}

// topicID writes an id as Kafka's own tools do, and none as "".
func topicID(raw [16]byte) string {
	if raw == [16]byte{} {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(raw[:])
}

// refresh gives a topology of the topics that is newer than the given time, asking only when there is none yet. It may
// lack topics that do not exist.
func (c *cluster) refresh(ctx context.Context, topics []string, after time.Time) (*topology, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.topology != nil && c.topology.at.After(after) && c.topology.has(topics) {
		return c.topology, nil
	}
	found, err := c.metadata(ctx, topics)
	if err != nil {
		return nil, err
	}
	c.topology = found
	return found, nil
}

func (t *topology) has(topics []string) bool {
	for _, name := range topics {
		if t.topics[name] == nil {
			return false
		}
	}
	return true
}

// leader is the broker to ask about a partition, which was there before.
func (t *topology) leader(p partition) (int32, error) {
	info := t.topics[p.topic]
	if info == nil {
		return 0, &DeletedError{Name: p.topic}
	}
	leader, ok := info.leaders[p.number]
	switch {
	case !ok:
		return 0, &DeletedError{Name: p.String()}
	case leader < 0:
		return 0, fmt.Errorf("%s has no leader: %w", p, kerr.LeaderNotAvailable)
	}
	return leader, nil
}

// patience turns a topic that is missing into a wait, for missingGrace, and then into the error given.
type patience struct{ since time.Time }

func (p *patience) missing(name string, gone error) error {
	if p.since.IsZero() {
		p.since = time.Now()
	}
	if time.Since(p.since) >= missingGrace {
		return gone
	}
	return fmt.Errorf("topic %s: %w", name, kerr.UnknownTopicOrPartition)
}

// largestSpare is how many bytes of records are kept for another response.
const largestSpare = 8 << 20

// recycle gives back the records of a response, to which nothing may refer any more.
func (c *cluster) recycle(r *records) {
	if cap(r.inflated) > largestSpare {
		return
	}
	r.reset()
	c.spare.Put(r)
}
