package kafka

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sluicedata/sluice/offsetlog"
)

// partition names one partition of one topic.
type partition struct {
	topic  string
	number int32
}

func (p partition) String() string { return p.topic + "/" + strconv.Itoa(int(p.number)) }

// parsePartition reads "topic/3". A topic's name has no slash.
func parsePartition(s string) (partition, error) {
	topic, number, ok := strings.Cut(s, "/")
	n, err := strconv.ParseInt(number, 10, 32)
	if !ok || err != nil || n < 0 || !legalTopic(topic) || strconv.FormatInt(n, 10) != number {
		return partition{}, fmt.Errorf("%q does not name a Kafka partition as topic/number", s)
	}
	return partition{topic: topic, number: int32(n)}, nil
}

// positions says, by topic, what is to be read next.
type positions map[string]*topicPosition

// topicPosition is one incarnation of a topic. Partitions that are not in next have not been planned yet.
type topicPosition struct {
	id   string // "" when the broker gave none
	next map[int32]int64
}

// apply folds the ranges of one batch into the positions.
func (ps positions) apply(ranges []offsetlog.Range) error {
	for _, r := range ranges {
		p, err := parsePartition(r.Partition)
		if err != nil {
			return err
		}
		if r.From < 0 || r.To < r.From {
			return fmt.Errorf("%s is not a range", r)
		}
		ps.advance(p, r)
	}
	return nil
}

// advance moves a partition to the range's end. A range of another incarnation ends those of the topic before.
func (ps positions) advance(p partition, r offsetlog.Range) {
	t := ps[p.topic]
	if t == nil || !sameTopic(t.id, r.ID) {
		t = &topicPosition{id: r.ID, next: map[int32]int64{}}
		ps[p.topic] = t
	}
	if t.id == "" {
		t.id = r.ID
	}
	t.next[p.number] = max(t.next[p.number], r.To)
}

// of is the position of a partition, if it has one.
func (ps positions) of(p partition) (int64, bool) {
	t := ps[p.topic]
	if t == nil {
		return 0, false
	}
	next, ok := t.next[p.number]
	return next, ok
}

// sameTopic compares topic ids. Brokers that know no ids leave them empty; then nothing is known to differ.
func sameTopic(a, b string) bool { return a == b || a == "" || b == "" }
