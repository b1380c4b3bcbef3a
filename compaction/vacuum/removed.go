package vacuum

import (
	"context"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/storage"
)

// removed calls fn for the files that commits in the log have removed, that no version needs and that are still there. Each
// is asked for. A file of an absolute path is left to a full vacuum.
func (p *Plan) removed(ctx context.Context, fn func(storage.Info, Use) error) error {
	var keys []string
	flush := func() error {
		infos, err := storage.StatAll(ctx, p.store, keys)
		if err != nil {
			return err
		}
		keys = keys[:0]
		for _, info := range infos {
			if info.Key == "" {
				continue // it is gone already
			}
			if err := fn(info, Removed); err != nil {
				return err
			}
		}
		return nil
	}
	seen := newReferences(p.Before)
	err := p.log.Commits(ctx, 0, p.Version, func(c *commitlog.Commit) error {
		for i := range c.Removes {
			for _, key := range ownKeys(&c.Removes[i]) {
				if p.References.Of(key) != Removed || seen.Of(key) == Removed {
					continue
				}
				seen.set(key, Removed)
				if keys = append(keys, key); len(keys) == batchFiles {
					if err := flush(); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// ownKeys are those of the files of a remove action whose paths are relative. That the paths can be read is known already.
func ownKeys(r *commitlog.Remove) []string {
	paths := []string{r.Path}
	if r.DeletionVector != nil {
		vector, _ := r.DeletionVector.Path()
		paths = append(paths, vector)
	}
	var own []string
	for _, path := range paths {
		if keys, err := keysOf(path); err == nil && len(keys) == 1 && storage.CheckKey(keys[0]) == nil {
			own = append(own, keys[0])
		}
	}
	return own
}
