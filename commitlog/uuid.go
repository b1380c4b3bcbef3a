package commitlog

import "encoding/binary"

const (
	uuidLength = 36 // 01234567-89ab-cdef-0123-456789abcdef
	uuidBytes  = 16
	ones       = 0x0101010101010101 // a 1 in each byte
)

// packUUID packs the UUID at the front of a text, which is at least as long as one; ok is false if there is none, in lower case.
func packUUID(text []byte) (id [uuidBytes]byte, ok bool) {
	text = text[:uuidLength]
	if text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return id, false
	}
	wrong := uint64(0)
	for i, digits := range [4]uint64{
		binary.LittleEndian.Uint64(text),
		uint64(binary.LittleEndian.Uint32(text[9:])) | uint64(binary.LittleEndian.Uint32(text[14:]))<<32,
		uint64(binary.LittleEndian.Uint32(text[19:])) | uint64(binary.LittleEndian.Uint32(text[24:]))<<32,
		binary.LittleEndian.Uint64(text[28:]),
	} {
		pairs := packDigits(digits)
		wrong |= digits ^ unpackDigits(pairs)
		binary.LittleEndian.PutUint32(id[4*i:], pairs)
	}
	return id, wrong == 0
}

// appendUUID is the inverse of packUUID.
func appendUUID(b, id []byte) []byte {
	var text [uuidLength]byte
	at := func(i int) uint64 { return unpackDigits(binary.LittleEndian.Uint32(id[4*i:])) }
	binary.LittleEndian.PutUint64(text[:], at(0))
	binary.LittleEndian.PutUint32(text[9:], uint32(at(1)))
	binary.LittleEndian.PutUint32(text[14:], uint32(at(1)>>32))
	binary.LittleEndian.PutUint32(text[19:], uint32(at(2)))
	binary.LittleEndian.PutUint32(text[24:], uint32(at(2)>>32))
	binary.LittleEndian.PutUint64(text[28:], at(3))
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return append(b, text[:]...)
}

// packDigits makes four bytes of eight hexadecimal digits in lower case; the first is in the lowest byte. What it makes of anything else does
// not unpack to the same.
func packDigits(text uint64) uint32 {
	letters := text >> 6 & ones // bit 6 is set in a to f, and not in 0 to 9
	v := (text&(15*ones) + 9*letters) & (15 * ones)
	v = (v<<4 | v>>8) & 0x00ff00ff00ff00ff
	v = (v | v>>8) & 0x0000ffff0000ffff
	return uint32(v | v>>16)
}

// unpackDigits is the inverse of packDigits.
func unpackDigits(pairs uint32) uint64 {
	v := uint64(pairs)
	v = (v | v<<16) & 0x0000ffff0000ffff
	v = (v | v<<8) & 0x00ff00ff00ff00ff
	v = (v>>4 | v<<8) & (15 * ones)
	letters := (v + 6*ones) >> 4 & ones // from 10 on
	return v + '0'*ones + ('a'-'9'-1)*letters
}
