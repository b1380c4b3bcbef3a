package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

const lockName = ".lock"

// attempt is the folder of what one Store has staged, locked while the Store lives.
type attempt struct {
	folder string
	lock   *os.File
}

// begin makes the folder of a new attempt and locks it. A sweep may take the folder for dead between its making and its
// locking; then the lock, or the folder, is lost and another name is tried.
func begin(staging string) (*attempt, error) {
	if err := os.MkdirAll(staging, 0o777); err != nil {
		return nil, err
	}
	for {
		folder := filepath.Join(staging, newAttemptName())
		if err := os.Mkdir(folder, 0o777); err != nil {
			if errors.Is(err, fs.ErrNotExist) { // a sweep removed the empty staging folder
				if err := os.MkdirAll(staging, 0o777); err != nil {
					return nil, err
				}
				continue
			}
			return nil, err
		}
		lock, err := takeLock(folder)
		if err != nil {
			return nil, err
		}
		if lock != nil {
			return &attempt{folder: folder, lock: lock}, nil
		}
	}
}

// takeLock locks the attempt's folder, or returns nil when it is somebody's or gone.
func takeLock(folder string) (*os.File, error) {
	name := filepath.Join(folder, lockName)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, nil
		}
		return nil, &fs.PathError{Op: "lock", Path: name, Err: err}
	}
	held, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	if there, err := os.Stat(name); err != nil || !os.SameFile(held, there) {
		_ = f.Close()
		return nil, nil
	}
	return f, nil
}

// release gives the lock up. An attempt that has nothing staged takes its folder with it.
func (a *attempt) release() error {
	err := removeEmpty(a.folder)
	_ = os.Remove(filepath.Dir(a.folder)) // stays while others stage
	return errors.Join(err, a.lock.Close())
}

// removeEmpty removes the folder of an attempt, whose lock the caller holds and is about to give up; what is staged there stays, with
// the folders that hold it. The lock's file goes before the folder: one who then makes it anew has the lock, and the folder stays.
func removeEmpty(folder string) error {
	var folders []string
	err := filepath.WalkDir(folder, func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			folders = append(folders, name)
		}
		return err
	})
	if err == nil {
		err = os.Remove(filepath.Join(folder, lockName))
	}
	for i := len(folders) - 1; i >= 0 && err == nil; i-- {
		if err = os.Remove(folders[i]); errors.Is(err, fs.ErrExist) { // there is something in it
			err = nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) { // somebody else has removed it
		return nil
	}
	return err
}
