package json

import "unsafe"

// copyPlain copies the string that begins at from in a scanner's buffer up to the first byte that is a quote, a backslash, a control
// character or none of ASCII, and returns how many bytes that are. It ends as well where to has no room for copyStep bytes more: that many
// are copied in one step, also of what stands behind the end.
//
//go:noescape
func copyPlain(to, from unsafe.Pointer, room int) (n int)
