package kafka

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// failedPause is how long Await waits for what goes wrong to pass, or to be found by Next.
const failedPause = 100 * time.Millisecond

// Await has each leader hold a fetch of what comes behind the ends that the newest call of Next saw: a broker answers it
// as soon as there is something.
func (s *Source) Await(ctx context.Context, longest time.Duration) error {
	s.mu.Lock()
	v := s.latest
	s.mu.Unlock()
	over := time.NewTimer(longest)
	defer over.Stop()
	for begun := time.Now(); ; {
		if v != nil {
			s.watch.hold(s.cluster, v, s.cfg, longest-time.Since(begun))
		}
		select {
		case <-over.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-s.watch.wake:
		}
		switch news, failed := s.watch.take(); {
		case news:
			return nil
		case failed:
			return sleep(ctx, min(failedPause, longest))
		}
	}
}

// watch is the fetches that leaders hold. One outlives the call of Await that another leader's answer has ended, and serves
// the next call: to give it up would cost its connection, on which the fetches of Read go as well. They do not wait behind
// it, since a leader that has something to fetch has answered it.
type watch struct {
	wake    chan struct{} // holds a token when take has something to tell
	running sync.WaitGroup

	mu           sync.Mutex
	held         map[int32]bool // by leader
	news, failed bool
}

func newWatch() *watch { return &watch{wake: make(chan struct{}, 1), held: map[int32]bool{}} }

// hold sends a fetch to each leader that holds none.
func (w *watch) hold(c *cluster, v *view, cfg Config, longest time.Duration) {
	for leader, req := range pollRequests(v, cfg, longest) {
		if !w.claim(leader) {
			continue
		}
		w.running.Go(func() {
			news, err := c.poll(leader, req)
			w.mu.Lock()
			delete(w.held, leader)
			w.news, w.failed = w.news || news, w.failed || err != nil
			w.mu.Unlock()
			select {
			case w.wake <- struct{}{}:
			default:
			}
		})
	}
}

func (w *watch) claim(leader int32) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held[leader] {
		return false
	}
	w.held[leader] = true
	return true
}

// take tells what the answers since the last call were.
func (w *watch) take() (news, failed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	news, failed = w.news, w.failed
	w.news, w.failed = false, false
	return news, failed
}

// poll waits for the leader's answer. It ends when the client is closed.
func (c *cluster) poll(leader int32, req *kmsg.FetchRequest) (news bool, err error) {
	resp, err := req.RequestWith(context.Background(), c.client.Broker(int(leader)))
	if err != nil {
		return false, fmt.Errorf("wait for records at broker %d: %w", leader, err)
	}
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return false, fmt.Errorf("wait for records at broker %d: %w", leader, err)
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return false, fmt.Errorf("wait for records of partition %d at broker %d: %w", p.Partition, leader, err)
			}
			news = news || len(p.RecordBatches) > 0
		}
	}
	return news, nil
}

// pollRequests are fetches of as little as a broker gives, from the ends of all partitions, by leader.
func pollRequests(v *view, cfg Config, longest time.Duration) map[int32]*kmsg.FetchRequest {
	byLeader := map[int32]*kmsg.FetchRequest{}
	for _, p := range (&topology{topics: v.topics}).partitions() {
		info := v.topics[p.topic]
		leader := info.leaders[p.number]
		if leader < 0 {
			continue
		}
		req := byLeader[leader]
		if req == nil {
			req = kmsg.NewPtrFetchRequest()
			req.MaxWaitMillis = int32(max(1, longest.Milliseconds()))
			req.MinBytes, req.MaxBytes = 1, 1
			req.IsolationLevel = cfg.Isolation.wire()
			req.SessionEpoch = -1 // no fetch session
			byLeader[leader] = req
		}
		if last := len(req.Topics) - 1; last < 0 || req.Topics[last].Topic != p.topic {
			t := kmsg.NewFetchRequestTopic()
			t.Topic, t.TopicID = p.topic, info.rawID
			req.Topics = append(req.Topics, t)
		}
		rp := kmsg.NewFetchRequestTopicPartition()
		rp.Partition, rp.FetchOffset, rp.PartitionMaxBytes = p.number, v.bounds[p].end(cfg.Isolation), 1
		t := &req.Topics[len(req.Topics)-1]
		t.Partitions = append(t.Partitions, rp)
	}
	return byLeader
}
