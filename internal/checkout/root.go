// Package checkout tells tests and the benchmark where the repository lies that they run in, installs the Go programs that they start, and finds ports for these.
//
// Test tools have what they need below its root, in .cache, and read scripts from its testdata.
//
// Invariant: nothing is searched outside of the working directory and the folders above it.
package checkout

import (
	"errors"
	"os"
	"path/filepath"
)

// Root is the folder of the repository: the nearest one with a go.mod, from the working directory upwards.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("the working directory is not within the repository: no go.mod above it")
		}
		dir = parent
	}
}
