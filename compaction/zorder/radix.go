package zorder

// entry is a row, and its place on the curve.
type entry struct {
	key  uint64
	pick pick
}

// sortEntries sorts by key; those of one key stay in their order. It is a radix sort, a byte of the keys at a time, with scratch of the same
// length. The result is in one of the two.
func sortEntries(entries, scratch []entry) (sorted []entry) {
	if len(entries) == 0 {
		return entries
	}
	differ := uint64(0) // bits in which keys differ
	for i := range entries {
		differ |= entries[i].key ^ entries[0].key
	}
	for shift := 0; shift < 64; shift += 8 {
		if differ>>shift&0xff == 0 {
			continue
		}
		var at [256]int
		for i := range entries {
			at[entries[i].key>>shift&0xff]++
		}
		next := 0
		for digit, n := range at {
			at[digit], next = next, next+n
		}
		for i := range entries {
			digit := entries[i].key >> shift & 0xff
			scratch[at[digit]] = entries[i]
			at[digit]++
		}
		entries, scratch = scratch, entries
	}
	return entries
}
