//go:build !amd64

package json

import "unsafe"

// copyPlain is what it is for amd64.
func copyPlain(to, from unsafe.Pointer, room int) (n int) { return copyPlainWords(to, from, room) }
