package local

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
)

// Unsettled goes through the names that attempts have staged: each stays from before its publishing until it is settled.
func (s *Store) Unsettled(ctx context.Context, fn func(key string) error) (time.Duration, error) {
	staging := filepath.Join(s.root, stagingFolder)
	var fnErr error
	err := filepath.WalkDir(staging, func(name string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fs.ErrNotExist): // settled, or swept, meanwhile
			return nil
		case err != nil:
			return err
		case e.IsDir():
			return nil
		}
		relative, err := filepath.Rel(staging, name)
		if err != nil {
			return err
		}
		_, key, inAttempt := strings.Cut(filepath.ToSlash(relative), "/")
		if !inAttempt || key == lockName || strings.HasPrefix(key, ".put-") {
			return nil
		}
		fnErr = fn(key)
		return fnErr
	})
	if fnErr != nil {
		return 0, fnErr
	}
	if err != nil {
		return 0, s.fail("unsettled", stagingFolder, err)
	}
	return 0, nil
}
