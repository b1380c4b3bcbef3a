package kafka

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// aborted are the transactions in a response that were aborted: for each producer the offsets at which they begin, ascending.
type aborted map[int64][]int64

// newAborted does not rely on the list's order: brokers other than Apache's give it in another.
func newAborted(list []kmsg.FetchResponseTopicPartitionAbortedTransaction) aborted {
	if len(list) == 0 {
		return nil
	}
	a := aborted{}
	for _, t := range list {
		a[t.ProducerID] = append(a[t.ProducerID], t.FirstOffset)
	}
	for _, begins := range a {
		slices.Sort(begins)
	}
	return a
}

// covers says whether a transactional batch of the producer at this offset belongs to an aborted transaction.
func (a aborted) covers(producer, offset int64) bool {
	begins := a[producer]
	return len(begins) > 0 && offset >= begins[0]
}

// end takes note of the marker that ends the producer's first aborted transaction.
func (a aborted) end(producer int64) { a[producer] = a[producer][1:] }
