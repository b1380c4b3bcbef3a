package table

// truths are which of SQL's three truth values a predicate may have: one of them for a row, and for a file those that its
// rows may have, or more.
type truths uint8

const (
	isFalse truths = 1 << iota
	isUnknown
	isTrue
	anyTruth = isFalse | isUnknown | isTrue
)

func truthOf(b bool) truths {
	if b {
		return isTrue
	}
	return isFalse
}

func (t truths) not() truths {
	return t&isUnknown | t&isTrue>>2 | t&isFalse<<2
}

// and is each truth of one side with each of the other. False is stronger than unknown, and unknown than true.
func (t truths) and(o truths) truths {
	return (t|o)&isFalse | t&o&isTrue | t&isUnknown&(o|o>>1) | o&isUnknown&(t|t>>1)
}

func (t truths) or(o truths) truths { return t.not().and(o.not()).not() }
