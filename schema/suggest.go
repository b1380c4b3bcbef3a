package schema

// suggest returns a hint for an unknown type name in lower case: what other systems' type is called here, or the nearest
// known name.
func suggest(name string) string {
	if here, ok := foreign[name]; ok {
		return "write " + here
	}
	best, least := "", 3
	for _, k := range known {
		if d := distance(name, k); d < least && d < len(k) {
			best, least = k, d
		}
	}
	if best != "" {
		return "did you mean " + best + "?"
	}
	return "types are boolean, byte, short, int, long, float, double, decimal(p,s), string, binary, date, timestamp, " +
		"timestamp_ntz, array<…>, map<…,…>, struct<name:type,…>"
}

// distance is the number of edits (insert, delete, replace) between two short words.
func distance(a, b string) int {
	if len(a) > 32 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost = 1 + min(diagonal, row[j], row[j-1])
			}
			diagonal, row[j] = row[j], cost
		}
	}
	return row[len(b)]
}
