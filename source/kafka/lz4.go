package kafka

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/pierrec/lz4/v4"
)

// An LZ4 frame: https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md. Its checksums are passed over, since that of the
// batch covers all of it.
const (
	lz4Mark           = 0x184D2204
	lz4Version        = 0x40 // of the flags, as are the next
	lz4VersionMask    = 0xC0
	lz4Independent    = 0x20
	lz4BlockChecksum  = 0x10
	lz4Size           = 0x08
	lz4Dictionary     = 0x01
	lz4Stored         = 1 << 31 // of a block's length
	lz4Window         = 64 << 10
	lz4LargestBlock   = 4 << 20
	lz4SmallestHead   = 7
	lz4ChecksumLength = 4
)

var errNotLZ4 = errors.New("it is no LZ4 frame that Kafka allows")

// appendLZ4 appends the blocks of the frame, up to limit bytes in all.
func appendLZ4(dst, src []byte, limit int) ([]byte, error) {
	if len(src) < lz4SmallestHead || binary.LittleEndian.Uint32(src) != lz4Mark {
		return nil, errNotLZ4
	}
	flags, largest := src[4], 1<<(8+2*(src[5]>>4&7))
	if flags&lz4VersionMask != lz4Version || flags&lz4Dictionary != 0 || largest < 64<<10 {
		return nil, errNotLZ4
	}
	head := lz4SmallestHead
	if flags&lz4Size != 0 {
		head += 8
	}
	if len(src) < head {
		return nil, io.ErrUnexpectedEOF
	}
	src = src[head:]
	begin := len(dst)
	for {
		if len(src) < 4 {
			return nil, io.ErrUnexpectedEOF
		}
		length := binary.LittleEndian.Uint32(src)
		src = src[4:]
		if length == 0 {
			return dst, nil
		}
		size := int(length &^ lz4Stored)
		if size > len(src) {
			return nil, io.ErrUnexpectedEOF
		}
		var dictionary []byte
		if flags&lz4Independent == 0 {
			dictionary = dst[max(begin, len(dst)-lz4Window):]
		}
		var err error
		if length&lz4Stored != 0 {
			dst = append(dst, src[:size]...)
		} else if dst, err = appendLZ4Block(dst, src[:size], dictionary, largest); err != nil {
			return nil, err
		}
		if len(dst) > limit {
			return nil, errTooLarge
		}
		src = src[size:]
		if flags&lz4BlockChecksum != 0 {
			src = src[min(lz4ChecksumLength, len(src)):]
		}
	}
}

// appendLZ4Block appends a block of at most largest bytes. How many they are is not said, so that it is tried with more and
// more room.
func appendLZ4Block(dst, src, dictionary []byte, largest int) ([]byte, error) {
	for room := min(4*len(src)+64, largest); ; room = min(2*room, largest) {
		dst = slices.Grow(dst, room)
		free := dst[len(dst):min(cap(dst), len(dst)+largest)]
		n, err := lz4.UncompressBlockWithDict(src, free, dictionary)
		if err == nil {
			return dst[:len(dst)+n], nil
		}
		if len(free) >= largest {
			return nil, err
		}
	}
}
