package offsetlog

import (
	"fmt"
	"strings"
)

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

// Merge returns the ranges of two batches, one after the other, as those of one: runs of a partition that touch become
// one range, unless one of them is lost and the other is not. Partitions stay in the order in which they first occur.
func Merge(a, b []Range) []Range {
	type incarnation struct{ partition, id string }
	merged := make([][]Range, 0, len(a))
	at := make(map[incarnation]int, len(a))
	for _, ranges := range [][]Range{a, b} {
		for _, r := range ranges {
			i, known := at[incarnation{r.Partition, r.ID}]
			if !known {
				i = len(merged)
				at[incarnation{r.Partition, r.ID}] = i
				merged = append(merged, nil)
			}
			merged[i] = extend(merged[i], r)
		}
	}
	all := make([]Range, 0, len(merged))
	for _, ranges := range merged {
		all = append(all, ranges...)
	}
	return all
}

func extend(ranges []Range, r Range) []Range {
	if len(ranges) == 0 {
		return append(ranges, r)
	}
	last := &ranges[len(ranges)-1]
	switch {
	case r.Len() == 0 && r.From == last.To:
		return ranges
	case last.Len() == 0 && last.To == r.From:
		*last = r
	case last.Lost == r.Lost && last.To == r.From:
		last.To = r.To
	default:
		return append(ranges, r)
	}
	return ranges
}

// ListRanges names the ranges for a person: all of a few, the first of many. Empty ones say nothing.
func ListRanges(ranges []Range) string {
	const most = 8
	var b strings.Builder
	n := 0
	for _, r := range ranges {
		if r.Len() == 0 {
			continue
		}
		if n++; n > most {
			continue
		}
		if n > 1 {
			b.WriteString(", ")
		}
		b.WriteString(r.String())
	}
	switch {
	case n == 0:
		return "nothing"
	case n > most:
		fmt.Fprintf(&b, " and %d more", n-most)
	}
	return b.String()
}
