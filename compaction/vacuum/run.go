package vacuum

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/sluicedata/sluice/storage"
)

const (
	batchFiles = 1000 // that one request deletes: as many as S3 takes
	requests   = 4    // at a time
)

// File is one that is deleted.
type File struct {
	storage.Info
	Use Use // Removed or Orphan
}

// Count is a number of files and their bytes.
type Count struct {
	Files int64
	Bytes int64
}

func (c *Count) add(info storage.Info) {
	c.Files++
	c.Bytes += info.Size
}

// Found is what a vacuum has met with.
type Found struct {
	Removed Count // deleted: files that the table had once
	Orphans Count // deleted: files that no commit refers to
	Young   Count // left for their age
	InWork  Count // left, since an attempt has staged them, or they have become part of the table meanwhile
}

// Each finds what a vacuum deletes now, and hands it to fn in batches; then each batch is to be deleted before fn returns, or
// not at all. An error of fn ends it and is returned as it is.
func (p *Plan) Each(ctx context.Context, found *Found, fn func([]File) error) error {
	var batch []File
	flush := func() error {
		safe, err := p.confirm(ctx, found, batch)
		batch = batch[:0]
		if err != nil || len(safe) == 0 {
			return err
		}
		return fn(safe)
	}
	walk := p.Walk
	if p.Lite {
		walk = p.removed
	}
	err := walk(ctx, func(info storage.Info, use Use) error {
		switch p.verdict(info, use) {
		case young:
			found.Young.add(info)
		case deletable:
			if batch = append(batch, File{info, use}); len(batch) == batchFiles*requests {
				return flush()
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// confirm leaves out what attempts have staged, and then what has been committed since the log was read.
func (p *Plan) confirm(ctx context.Context, found *Found, files []File) ([]File, error) {
	if len(files) == 0 {
		return nil, nil
	}
	staged, err := p.staged(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.catchUp(ctx); err != nil {
		return nil, err
	}
	var safe []File
	for _, f := range files {
		_, working := staged[f.Key]
		switch {
		case working || p.References.Of(f.Key) == Needed:
			found.InWork.add(f.Info)
			continue
		case f.Use == Orphan:
			found.Orphans.add(f.Info)
		default:
			found.Removed.add(f.Info)
		}
		safe = append(safe, f)
	}
	return safe, nil
}

// staged are the keys of what attempts have staged and not settled, as far as the store knows.
func (p *Plan) staged(ctx context.Context) (map[string]struct{}, error) {
	keys := map[string]struct{}{}
	_, err := p.store.Unsettled(ctx, func(key string) error {
		keys[key] = struct{}{}
		return nil
	})
	return keys, err
}

// Orphans counts the files that no commit refers to, without those in work.
func (p *Plan) Orphans(ctx context.Context) (*Found, error) {
	found := &Found{}
	staged, err := p.staged(ctx)
	if err != nil {
		return nil, err
	}
	return found, p.Walk(ctx, func(info storage.Info, use Use) error {
		_, working := staged[info.Key]
		switch {
		case use != Orphan || working:
		case p.verdict(info, use) == young:
			found.Young.add(info)
		default:
			found.Orphans.add(info)
		}
		return nil
	})
}

// Run deletes. progress hears of what was deleted so far; it may be nil. An error does not undo what was deleted before.
func (p *Plan) Run(ctx context.Context, progress func(*Found)) (*Found, error) {
	found := &Found{}
	return found, p.Each(ctx, found, func(files []File) error {
		if err := deleteAll(ctx, p.store, files); err != nil {
			return err
		}
		if progress != nil {
			progress(found)
		}
		return nil
	})
}

func deleteAll(ctx context.Context, store storage.Store, files []File) error {
	var (
		running sync.WaitGroup
		errs    = make([]error, requests)
		number  int
	)
	for some := range slices.Chunk(files, batchFiles) {
		keys := make([]string, len(some))
		for i, f := range some {
			keys[i] = f.Key
		}
		at := number
		number++
		running.Go(func() { errs[at] = store.DeleteAll(ctx, keys) })
	}
	running.Wait()
	return errors.Join(errs...)
}
