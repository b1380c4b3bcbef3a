package kafka

import "sort"

// demand is what one partition could give to a batch.
type demand struct {
	records int64   // offsets between position and end
	size    float64 // bytes of one, as learned
}

// share says how many records each partition gives to a batch of at most maxRecords and about maxBytes (0: no limit).
//
// Both limits are water filling: partitions with little give all, the others the same amount, so that a large backlog of
// one does not hold up the rest. When there is less than one record for each, they take turns, beginning with the
// partition turn, and at least one record is granted as long as any is wanted.
func share(demands []demand, maxRecords, maxBytes, turn int64) []int64 {
	granted := make([]int64, len(demands))
	for i, d := range demands {
		granted[i] = d.records
	}
	if maxRecords > 0 {
		granted = level(granted, maxRecords, turn)
	}
	if maxBytes > 0 {
		granted = shareBytes(demands, granted, maxBytes, turn)
	}
	return granted
}

// shareBytes cuts the grants of records to about maxBytes.
func shareBytes(demands []demand, wanted []int64, maxBytes, turn int64) []int64 {
	bytes := make([]int64, len(demands))
	for i, d := range demands {
		bytes[i] = int64(float64(wanted[i])*d.size + 0.5)
		if wanted[i] > 0 {
			bytes[i] = max(bytes[i], 1)
		}
	}
	granted := make([]int64, len(demands))
	left := maxBytes
	for i, b := range level(bytes, maxBytes, turn) {
		if b == bytes[i] {
			granted[i] = wanted[i]
		} else {
			granted[i] = min(wanted[i], int64(float64(b)/demands[i].size))
		}
		left -= int64(float64(granted[i]) * demands[i].size)
	}
	giveOnes(demands, wanted, granted, left, turn)
	return granted
}

// giveOnes gives one record each to partitions whose fair share is smaller than a record, while bytes are left.
func giveOnes(demands []demand, wanted, granted []int64, left, turn int64) {
	var total int64
	for _, g := range granted {
		total += g
	}
	for k := range demands {
		i := (int(turn%int64(len(demands))) + k) % len(demands)
		if wanted[i] == 0 || granted[i] > 0 {
			continue
		}
		size := int64(demands[i].size)
		if size > left && total > 0 {
			continue
		}
		granted[i] = 1
		left -= size
		total++
	}
}

// level cuts amounts to at most limit in all: each is cut to the same level, and what then is left over goes one by one to
// those that were cut, beginning with the one at turn.
func level(amounts []int64, limit, turn int64) []int64 {
	order := make([]int, len(amounts))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return amounts[order[a]] < amounts[order[b]] })
	granted := make([]int64, len(amounts))
	left := limit
	for k, i := range order {
		line := left / int64(len(order)-k)
		if amounts[i] > line { // and so are all that follow
			for _, i := range order[k:] {
				granted[i] = line
				left -= line
			}
			break
		}
		granted[i] = amounts[i]
		left -= granted[i]
	}
	for k := 0; left > 0 && k < len(amounts); k++ {
		i := (int(turn%int64(len(amounts))) + k) % len(amounts)
		if granted[i] < amounts[i] {
			granted[i]++
			left--
		}
	}
	return granted
}
