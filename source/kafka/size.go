package kafka

import (
	"context"
	"sync"
)

const (
	guessedSize = 1024     // bytes per offset, when nothing is known
	sampleBytes = 64 << 10 // of a probe; the broker sends at least one whole batch
	// probesAtOnce bounds what probes hold in memory.
	probesAtOnce = 16
	// sizeWindow is about how many bytes the average looks back on.
	sizeWindow = 16 << 20
)

// sizes learns how many bytes an offset of each partition stands for. Offsets without a record count as well, since plans
// count offsets. Safe for concurrent use.
type sizes struct {
	mu      sync.Mutex
	learned map[partition]*size
}

type size struct{ bytes, offsets float64 }

func newSizes() *sizes { return &sizes{learned: map[partition]*size{}} }

// observe takes note that a run of offsets brought so many bytes.
func (s *sizes) observe(p partition, bytes, offsets int64) {
	if offsets <= 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.learned[p]
	if known == nil {
		known = &size{}
		s.learned[p] = known
	}
	if total := known.bytes + float64(bytes); total > sizeWindow {
		known.offsets *= sizeWindow / total
		known.bytes *= sizeWindow / total
	}
	known.bytes += float64(bytes)
	known.offsets += float64(offsets)
}

// of is the bytes per offset, and whether they were learned. At least 1.
func (s *sizes) of(p partition) (float64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.learned[p]
	if known == nil {
		return guessedSize, false
	}
	return max(known.bytes/known.offsets, 1), true
}

// probe fetches a little of each partition of which no size is known yet, several at a time, so that a first plan keeps its byte
// limit.
func (s *Source) probe(ctx context.Context, v *view, parts []*planPart) {
	var running sync.WaitGroup
	slots := make(chan struct{}, probesAtOnce)
	for _, p := range parts {
		if _, known := s.sizes.of(p.partition); known || p.available() == 0 {
			continue
		}
		slots <- struct{}{}
		running.Go(func() {
			s.probePartition(ctx, v.topics[p.partition.topic], p)
			<-slots
		})
	}
	running.Wait()
}

// probePartition leaves the guess to a partition that can't be read: Read will say why.
func (s *Source) probePartition(ctx context.Context, info *topicInfo, p *planPart) {
	req := fetchRequest{
		partition: p.partition, topicID: info.rawID, offset: p.from,
		end: p.end, level: s.cfg.Isolation, maxBytes: sampleBytes, maxPartitionBytes: sampleBytes,
	}
	got, err := s.cluster.fetch(ctx, info.leaders[p.partition.number], req)
	if err != nil || got.next <= p.from {
		return
	}
	s.sizes.observe(p.partition, got.records.bytes, got.next-p.from)
	s.cluster.recycle(got.records)
}
