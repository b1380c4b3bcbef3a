package storage

import (
	"errors"
	"strings"
)

// CheckKey says whether key may name an object: relative, forward slashes, no empty, "." or ".." element, no NUL.
func CheckKey(key string) error {
	if key == "" {
		return errors.New("empty key")
	}
	if strings.ContainsRune(key, 0) {
		return errors.New("key holds a NUL byte")
	}
	for element := range strings.SplitSeq(key, "/") {
		switch element {
		case "", ".", "..":
			return errors.New("key is not a clean relative path")
		}
	}
	return nil
}
