package offsetlog

import "fmt"

// Range is a run of source positions of one partition, [From, To), that one batch covers.
//
// A source with long-lived partitions (Kafka) has one Range per partition in every plan, also when it is empty, so that
// the newest plan alone is the whole position. A source whose partitions are read once (files) names each file in the
// batch that reads it, with From 0 and To its size.
type Range struct {
	// Partition names the partition within its source: "orders/3", or a file's path.
	Partition string `json:"partition"`
	// ID tells this incarnation of the partition from another of the same name: a Kafka topic id, a file's mtime.
	ID string `json:"id,omitempty"`
	// From is the first position covered, To the first one not covered. Offsets in Kafka, bytes in files.
	From int64 `json:"from"`
	To   int64 `json:"to"`
	// Lost says that the source no longer had these positions and that the pipeline was told to go on (on_data_loss:
	// skip). They count as covered, and hold no rows.
	Lost bool `json:"lost,omitempty"`
}

// Len is the number of positions covered.
func (r Range) Len() int64 { return r.To - r.From }

func (r Range) String() string {
	lost := ""
	if r.Lost {
		lost = " lost"
	}
	return fmt.Sprintf("%s [%d, %d)%s", r.Partition, r.From, r.To, lost)
}
