package commitlog

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
)

// Path is where the file of a deletion vector lies, as an action's path says it ("Deletion Vector Descriptor Schema"): below
// the table, or a URI. It is empty for one that lies in the log itself.
func (d *DeletionVector) Path() (string, error) {
	switch d.StorageType {
	case "i":
		return "", nil
	case "u":
		key, err := vectorKey(d.PathOrInlineDv)
		return PathEncode(key), err
	case "p":
		return d.PathOrInlineDv, nil
	}
	return "", fmt.Errorf("its storage type is %q", d.StorageType)
}

// vectorKey is where a vector lies whose id is given: a prefix of any length, and a UUID in 20 characters.
func vectorKey(id string) (string, error) {
	if len(id) < 20 {
		return "", fmt.Errorf("its id %q has fewer than 20 characters", id)
	}
	prefix, id := id[:len(id)-20], id[len(id)-20:]
	b, err := DecodeZ85(id)
	if err != nil {
		return "", err
	}
	h := hex.EncodeToString(b)
	if prefix != "" {
		prefix += "/"
	}
	return fmt.Sprintf("%sdeletion_vector_%s-%s-%s-%s-%s.bin", prefix, h[:8], h[8:12], h[12:16], h[16:20], h[20:]), nil
}

const z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

// DecodeZ85 reads ZeroMQ's base 85 (RFC 32/Z85): five characters are four bytes, in big-endian order.
func DecodeZ85(text string) ([]byte, error) {
	if len(text)%5 != 0 {
		return nil, fmt.Errorf("%d characters of base 85, no multiple of 5", len(text))
	}
	b := make([]byte, 0, len(text)/5*4)
	for i := 0; i < len(text); i += 5 {
		n := uint64(0)
		for _, ch := range []byte(text[i : i+5]) {
			digit := strings.IndexByte(z85, ch)
			if digit < 0 {
				return nil, fmt.Errorf("%q is no base 85", ch)
			}
			n = n*85 + uint64(digit)
		}
		if n>>32 != 0 {
			return nil, fmt.Errorf("%q is more than 32 bits in base 85", text[i:i+5])
		}
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	return b, nil
}
