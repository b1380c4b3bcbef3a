package json

import (
	"math/bits"
	"unsafe"
)

// copyStep is how many bytes copyPlain loads and stores at once.
const copyStep = 32

// copyPlainWords is copyPlain by words of eight bytes.
func copyPlainWords(to, from unsafe.Pointer, room int) (n int) {
	for last := room - copyStep; n <= last; n += copyStep {
		words := (*[copyStep / 8]uint64)(unsafe.Add(from, n))
		*(*[copyStep / 8]uint64)(unsafe.Add(to, n)) = *words
		for i, w := range words {
			if m := unusual(w) & highBits; m != 0 {
				return n + 8*i + bits.TrailingZeros64(m)>>3
			}
		}
	}
	return n
}

// unusual has the high bit of the lowest byte of w that is a quote, a backslash, a control character or none of ASCII. Other bits
// than the high ones, and those above that byte, mean nothing.
func unusual(w uint64) uint64 {
	quote := w ^ lowBits*0x02 // as in special
	slash := w ^ lowBits*'\\'
	return (quote - lowBits*(' '+1)) | (slash - lowBits) | w
}
