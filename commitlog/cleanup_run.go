package commitlog

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluicedata/sluice/storage"
)

// cleanupBatch is how many files are deleted at a time: as many as one request to S3 takes.
const cleanupBatch = 1000

// Cleaned is what a cleanup has deleted, by kind.
type Cleaned map[LogFileKind]Deleted

// Deleted is a number of files and their bytes.
type Deleted struct {
	Files int64
	Bytes int64
}

// Add counts a file.
func (c Cleaned) Add(f LogFile) {
	n := c[f.Kind]
	c[f.Kind] = Deleted{n.Files + 1, n.Bytes + f.Size}
}

// Run deletes what has expired. It can end anywhere: what is left is read as before, and deleted by the next one. progress, if set,
// hears of what has been deleted so far.
func (c *Cleanup) Run(ctx context.Context, progress func(Cleaned)) (Cleaned, error) {
	done := Cleaned{}
	err := c.Each(ctx, func(files []LogFile) error {
		keys := make([]string, len(files))
		for i, f := range files {
			keys[i] = f.Key
		}
		if err := c.log.store.DeleteAll(ctx, keys); err != nil {
			return err
		}
		for _, f := range files {
			done.Add(f)
		}
		if progress != nil {
			progress(done)
		}
		return nil
	})
	if err != nil {
		return done, fmt.Errorf("delete the log before version %d: %w", c.From, err)
	}
	return done, nil
}

// Each hands what is deleted to fn, some files at a time: versions in ascending order, so that none is missing above one that is
// there, and sidecars last, when no log checkpoint refers to them. Each batch is to be deleted before fn returns, or none at all. An
// error of fn ends it and is returned as it is.
func (c *Cleanup) Each(ctx context.Context, fn func([]LogFile) error) error {
	if c.From < 0 {
		return nil
	}
	b := &logFileBatch{deliver: fn}
	for _, some := range []func(context.Context, *logFileBatch) error{c.versions, c.temporary, c.sidecars} {
		if err := some(ctx, b); err != nil {
			return err
		}
		if err := b.flush(); err != nil {
			return err
		}
	}
	return nil
}

// logFileBatch gathers files.
type logFileBatch struct {
	files   []LogFile
	deliver func([]LogFile) error
}

func (b *logFileBatch) add(f LogFile) error {
	if b.files = append(b.files, f); len(b.files) < cleanupBatch {
		return nil
	}
	return b.flush()
}

func (b *logFileBatch) flush() error {
	if len(b.files) == 0 {
		return nil
	}
	files := b.files
	b.files = nil
	return b.deliver(files)
}

// expired tells whether a file that is no sidecar is deleted.
func (c *Cleanup) expired(f *LogFile) bool {
	switch f.Kind {
	case TemporaryFile:
		return f.Modified.Before(c.stale) && f.Modified.Before(c.Before)
	case CompactionFile: // one that begins with the version itself is of no use behind its log checkpoint
		return f.version <= c.From
	}
	return f.version < c.From
}

// versions finds the files of versions, and temporary ones between them.
func (c *Cleanup) versions(ctx context.Context, b *logFileBatch) error {
	done := errors.New("the files from here on stay")
	err := c.log.store.List(ctx, logDir, "", func(info storage.Info) error {
		f, ok := logFileOf(info)
		switch {
		case ok && c.expired(&f):
			return b.add(f)
		case ok && f.Kind == CommitFile:
			return done
		}
		return nil
	})
	if errors.Is(err, done) {
		return nil
	}
	return err
}

// temporary finds those temporary files that come behind all versions.
func (c *Cleanup) temporary(ctx context.Context, b *logFileBatch) error {
	return c.log.store.List(ctx, logDir+"_", "", func(info storage.Info) error {
		if f, ok := logFileOf(info); ok && c.expired(&f) {
			return b.add(f)
		}
		return nil
	})
}

// sidecars finds those that are old and that no log checkpoint which stays refers to. Where one of these cannot be read, all stay.
func (c *Cleanup) sidecars(ctx context.Context, b *logFileBatch) error {
	var old []storage.Info
	err := c.log.store.List(ctx, sidecarDir, "", func(info storage.Info) error {
		if info.Modified.Before(c.stale) {
			old = append(old, info)
		}
		return nil
	})
	if err != nil || len(old) == 0 {
		return err
	}
	needed, err := c.log.sidecarsFrom(ctx, c.From)
	var damaged *damagedError
	if errors.As(err, &damaged) {
		c.Damaged = append(c.Damaged, damaged.Key)
		return nil
	}
	if err != nil {
		return err
	}
	for _, info := range old {
		name := strings.TrimPrefix(strings.TrimPrefix(info.Key, sidecarDir), ".")
		if needed[name] || needed[strings.TrimSuffix(name, ".crc")] {
			continue
		}
		if err := b.add(LogFile{Info: info, Kind: SidecarFile}); err != nil {
			return err
		}
	}
	return nil
}

// sidecarsFrom are the names of the sidecars that log checkpoints from a version on refer to.
func (l *Log) sidecarsFrom(ctx context.Context, version int64) (map[string]bool, error) {
	e, err := l.list(ctx, version)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, c := range e.checkpoints {
		r := checkpointReader{log: l, state: l.newState()}
		for _, key := range c.keys {
			some, err := r.part(ctx, c.version, key)
			if err != nil {
				return nil, err
			}
			for _, name := range some {
				if name, err = PathDecode(name); err != nil {
					return nil, r.damaged(c.version, key, err)
				}
				names[name] = true
			}
		}
	}
	return names, nil
}
