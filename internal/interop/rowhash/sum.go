// Package rowhash reduces rows to one number that does not depend on their order.
//
// It owns the canonical text of a row and the hash over it, so that a table's content can be compared between Go, foreign
// engines and an independent reading of the source without moving the rows. testdata/readers/rowhash.py is the same form
// in Python; a test holds the two together.
//
// Bytes: a row is its columns in byte order of their names, joined by 0x1f, each in this form:
//
//	null                      ~
//	boolean                   true, false
//	integers of any width     decimal digits
//	float, double             the IEEE bits as a signed integer of the same width; every NaN as the quiet one
//	decimal                   the unscaled integer, s, the scale: 12.50 is 1250s2
//	string, binary            the number of bytes, a colon, the bytes
//	date                      days since the epoch
//	timestamp(_ntz)           microseconds since the epoch
//	array                     [ elements joined by commas ]
//	struct                    { fields in order, joined by commas }
//	map                       < key=value, sorted by bytes, joined by commas >
//
// The hash is the sum modulo 2^128 over all rows of the first 16 bytes of the row's SHA-256, taken as a little-endian
// number: order does not matter, and a row that is there twice does.
package rowhash

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Sum is the hash of a multiset of rows. The zero value is that of no rows.
type Sum struct {
	Rows   int64
	lo, hi uint64
}

// Add counts one row in, given its canonical text.
func (s *Sum) Add(row []byte) {
	digest := sha256.Sum256(row)
	s.add(binary.LittleEndian.Uint64(digest[:8]), binary.LittleEndian.Uint64(digest[8:16]))
	s.Rows++
}

// Merge counts in all rows of another sum.
func (s *Sum) Merge(o Sum) {
	s.add(o.lo, o.hi)
	s.Rows += o.Rows
}

func (s *Sum) add(lo, hi uint64) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, lo, 0)
	s.hi, _ = bits.Add64(s.hi, hi, carry)
}

// Hash is the sum as 32 hexadecimal digits.
func (s Sum) Hash() string { return fmt.Sprintf("%016x%016x", s.hi, s.lo) }
