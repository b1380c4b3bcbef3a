package files

// fullSegment is the number of entries from which on a segment is not merged any more: 32 MB.
const fullSegment = 1_000_000

// listed is a segment as a listing tells it.
type listed struct {
	segmentName
	count int // entries, by its size
}

// cover chooses segments of the epoch that together hold all batches from 0 on as far as possible, by ascending end.
// usable may turn segments down.
func cover(all []listed, epoch int64, usable func(listed) (bool, error)) (chosen []listed, end int64, err error) {
	turnedDown := make([]bool, len(all))
	for {
		best := -1
		for i, s := range all {
			if s.epoch != epoch || turnedDown[i] || s.from > end || (s.to <= end && s.to > 0) {
				continue
			}
			if s.to == 0 && len(chosen) > 0 {
				continue
			}
			if best < 0 || s.to > all[best].to || s.to == all[best].to && s.attempt > all[best].attempt {
				best = i
			}
		}
		if best < 0 {
			return chosen, end, nil
		}
		ok, err := usable(all[best])
		if err != nil {
			return nil, 0, err
		}
		if !ok {
			turnedDown[best] = true
			continue
		}
		chosen, end = append(chosen, all[best]), all[best].to
	}
}

// mergeable returns the segments at the end of the chosen ones that a new segment of count entries takes in: from the
// first on that is not larger than all that follows it.
func mergeable(chosen []listed, count int) []listed {
	start := len(chosen)
	following := count + 1
	for i := len(chosen) - 1; i >= 0 && chosen[i].count < fullSegment; i-- {
		weight := chosen[i].count + 1
		if weight <= following {
			start = i
		}
		following += weight
	}
	return chosen[start:]
}
