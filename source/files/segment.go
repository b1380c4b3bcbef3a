package files

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The bytes of a segment are in the package comment.
const (
	segmentMagic   = "SLSEEN01"
	segmentFamily  = "SLSEEN"
	segmentSuffix  = ".seen"
	segmentHeader  = len(segmentMagic) + 4*8
	segmentTrailer = sha256.Size
	entryBytes     = 32
)

// segmentName says what a segment covers: the plans of batches [from, to), at the given try to write them.
type segmentName struct {
	epoch, from, to, attempt int64
}

func (n segmentName) key() string {
	attempt := ""
	if n.attempt > 0 {
		attempt = fmt.Sprintf(".%d", n.attempt)
	}
	return fmt.Sprintf("%06d-%020d-%020d%s%s", n.epoch, n.from, n.to, attempt, segmentSuffix)
}

// parseSegmentName returns false for what is not the name of a segment.
func parseSegmentName(key string) (segmentName, bool) {
	var n segmentName
	stem, ok := strings.CutSuffix(key, segmentSuffix)
	if !ok {
		return n, false
	}
	stem, attempt, _ := strings.Cut(stem, ".")
	parts := strings.Split(stem, "-")
	if len(parts) != 3 {
		return n, false
	}
	for i, field := range []*int64{&n.epoch, &n.from, &n.to} {
		v, err := strconv.ParseInt(parts[i], 10, 64)
		if err != nil {
			return n, false
		}
		*field = v
	}
	if attempt != "" {
		v, err := strconv.ParseInt(attempt, 10, 64)
		if err != nil {
			return n, false
		}
		n.attempt = v
	}
	return n, n.key() == key && n.from >= 0 && n.from <= n.to
}

func (n segmentName) contains(o segmentName) bool {
	return n.epoch == o.epoch && n.from <= o.from && o.to <= n.to
}

func encodeSegment(n segmentName, entries []entry) []byte {
	b := make([]byte, 0, segmentHeader+entryBytes*len(entries)+segmentTrailer)
	b = append(b, segmentMagic...)
	for _, v := range []int64{n.epoch, n.from, n.to, int64(len(entries))} {
		b = binary.BigEndian.AppendUint64(b, uint64(v))
	}
	for _, e := range entries {
		b = binary.BigEndian.AppendUint64(b, e.path.hi)
		b = binary.BigEndian.AppendUint64(b, e.path.lo)
		b = binary.BigEndian.AppendUint64(b, uint64(e.size))
		b = binary.BigEndian.AppendUint64(b, uint64(e.stamp))
	}
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// segment is the verified bytes of one.
type segment struct{ entries []byte }

// errNewerSegment tells a segment of another version from a damaged one.
var errNewerSegment = errors.New("it is of another format version; use the version of sluice that wrote it, or a later one")

// openSegment verifies the bytes of the segment of that name.
func openSegment(n segmentName, b []byte) (segment, error) {
	if len(b) < segmentHeader+segmentTrailer {
		return segment{}, fmt.Errorf("it ends after %d bytes", len(b))
	}
	if !bytes.HasPrefix(b, []byte(segmentMagic)) {
		if bytes.HasPrefix(b, []byte(segmentFamily)) {
			return segment{}, errNewerSegment
		}
		return segment{}, errors.New("it does not begin as a segment does")
	}
	body, sum := b[:len(b)-segmentTrailer], b[len(b)-segmentTrailer:]
	if want := sha256.Sum256(body); !bytes.Equal(sum, want[:]) {
		return segment{}, errors.New("its checksum does not match")
	}
	entries := body[segmentHeader:]
	for i, want := range []int64{n.epoch, n.from, n.to, int64(len(entries) / entryBytes)} {
		if got := binary.BigEndian.Uint64(b[len(segmentMagic)+8*i:]); got != uint64(want) {
			return segment{}, fmt.Errorf("field %d of its header is %d where its name and length say %d", i, got, want)
		}
	}
	if len(entries)%entryBytes != 0 {
		return segment{}, fmt.Errorf("its entries are %d bytes, not a multiple of %d", len(entries), entryBytes)
	}
	return segment{entries: entries}, nil
}

func (s segment) len() int { return len(s.entries) / entryBytes }

func (s segment) at(i int) entry {
	b := s.entries[i*entryBytes : (i+1)*entryBytes]
	return entry{
		path: pathHash{hi: binary.BigEndian.Uint64(b), lo: binary.BigEndian.Uint64(b[8:])},
		identity: identity{
			size:  int64(binary.BigEndian.Uint64(b[16:])),
			stamp: int64(binary.BigEndian.Uint64(b[24:])),
		},
	}
}

// sortEntries brings entries in the order planned into that of a segment: by path, only the last of each.
func sortEntries(entries []entry) []entry {
	slices.SortStableFunc(entries, func(a, b entry) int {
		switch {
		case a.path.less(b.path):
			return -1
		case b.path.less(a.path):
			return 1
		default:
			return 0
		}
	})
	kept := entries[:0]
	for i, e := range entries {
		if i+1 == len(entries) || entries[i+1].path != e.path {
			kept = append(kept, e)
		}
	}
	return kept
}

// mergeEntries merges a segment into sorted entries that were planned after it.
func mergeEntries(older segment, newer []entry) []entry {
	merged := make([]entry, 0, older.len()+len(newer))
	for i := range older.len() {
		e := older.at(i)
		for len(newer) > 0 && newer[0].path.less(e.path) {
			merged, newer = append(merged, newer[0]), newer[1:]
		}
		if len(newer) > 0 && newer[0].path == e.path {
			e, newer = newer[0], newer[1:]
		}
		merged = append(merged, e)
	}
	return append(merged, newer...)
}
