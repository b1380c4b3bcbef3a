package commitlog

import (
	"fmt"
	"strings"
)

const upperHex = "0123456789ABCDEF"

// PathEncode turns a file's path, relative to the table, into what an action's path holds: a URI reference in plain
// ASCII (RFC 2396, as Hadoop's Path does it; / = : + & , ; @ ! $ ( ) * ~ ' stay). PathDecode is its inverse.
func PathEncode(path string) string {
	var b strings.Builder
	for i := range len(path) {
		if ch := path[i]; staysInPath(ch) {
			b.WriteByte(ch)
		} else {
			b.WriteByte('%')
			b.WriteByte(upperHex[ch>>4])
			b.WriteByte(upperHex[ch&15])
		}
	}
	return b.String()
}

func staysInPath(ch byte) bool {
	return ch > ' ' && ch < 0x7f && strings.IndexByte("%\"#<>?[\\]^`{|}", ch) < 0
}

// PathDecode turns an action's path into the file's path: every escape is decoded, once. A plus sign is a plus sign.
func PathDecode(path string) (string, error) {
	if strings.IndexByte(path, '%') < 0 {
		return path, nil
	}
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] != '%' {
			b.WriteByte(path[i])
			continue
		}
		if i+2 >= len(path) {
			return "", fmt.Errorf("decode path %q: an escape is cut short", path)
		}
		hi, lo := unhex(path[i+1]), unhex(path[i+2])
		if hi < 0 || lo < 0 {
			return "", fmt.Errorf("decode path %q: %q is no escape", path, path[i:i+3])
		}
		b.WriteByte(byte(hi<<4 | lo))
		i += 2
	}
	return b.String(), nil
}

// CanonicalPath is what an action's path is told apart by ("Action Reconciliation"): an absolute path of the local file system is
// the same file without a scheme and with one, /a/b as file:/a/b and file:///a/b. All others are as they are, escapes included.
func CanonicalPath(path string) string { return path[localScheme(path):] }

// localScheme is how many bytes of a path are the scheme of the local file system, and an authority that is empty.
func localScheme[P string | []byte](path P) int {
	const scheme = "file:/"
	for i := range len(scheme) {
		if len(path) <= i || path[i] != scheme[i] {
			return 0
		}
	}
	switch {
	case len(path) == len(scheme) || path[len(scheme)] != '/':
		return len("file:")
	case len(path) > len("file://") && path[len("file://")] == '/':
		return len("file://")
	}
	return 0 // a file of another machine
}

func unhex(ch byte) int {
	switch {
	case ch >= '0' && ch <= '9':
		return int(ch - '0')
	case ch >= 'a' && ch <= 'f':
		return int(ch-'a') + 10
	case ch >= 'A' && ch <= 'F':
		return int(ch-'A') + 10
	}
	return -1
}
