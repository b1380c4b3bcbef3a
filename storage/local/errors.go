package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/sluicedata/sluice/storage"
)

func (s *Store) check(ctx context.Context, op, key string) error {
	if err := ctx.Err(); err != nil {
		return s.fail(op, key, err)
	}
	if err := storage.CheckKey(key); err != nil {
		return s.fail(op, key, err)
	}
	return nil
}

// fail is the error of an operation, with what to do about it when it is the disk's.
func (s *Store) fail(op, key string, err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err // the key says it already
	}
	var linkError *os.LinkError
	if errors.As(err, &linkError) {
		err = linkError.Err
	}
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) {
		err = storage.ErrNotExist
	}
	if remedy := s.remedy(err); remedy != "" {
		err = fmt.Errorf("%w; %s, then run again", err, remedy)
	}
	return &storage.Error{Op: op, Key: key, Err: err}
}

func (s *Store) remedy(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "free space on the disk that holds " + s.root
	case errors.Is(err, syscall.EACCES):
		return fmt.Sprintf("give the user that runs this (uid %d) access to %s and what is in it", os.Geteuid(), s.root)
	case errors.Is(err, syscall.EROFS):
		return fmt.Sprintf("mount the file system that holds %s for writing", s.root)
	case errors.Is(err, syscall.EIO):
		return fmt.Sprintf("see in the system's log what is wrong with the disk that holds %s", s.root)
	default:
		return ""
	}
}

// notFileError says that there is something under a key, and no file.
type notFileError struct{ mode fs.FileMode }

func (e *notFileError) Error() string {
	what := "a device, a pipe or a socket"
	if e.mode.IsDir() {
		what = "a folder"
	}
	return "there is " + what + " and no file"
}

func (e *notFileError) Unwrap() error { return storage.ErrNotExist }
