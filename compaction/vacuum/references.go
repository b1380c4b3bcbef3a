package vacuum

import (
	"fmt"
	"hash/maphash"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/sluicedata/sluice/commitlog"
)

// Use is what the log says of a file in the table's folder.
type Use uint8

const (
	// Orphan: nothing. Its writer has failed, or has not committed yet; or the log has been cleaned up since.
	Orphan Use = iota
	// Removed: the table had it once.
	Removed
	// Needed: a version within the retention has it.
	Needed
)

// References are the uses of the files that the log knows, by a hash of their keys. Two keys of one hash have the greater
// use, so that chance only spares a file.
type References struct {
	since time.Time // the retention's begin
	seed  maphash.Seed
	uses  map[uint64]Use
}

func newReferences(since time.Time) *References {
	return &References{since: since, seed: maphash.MakeSeed(), uses: map[uint64]Use{}}
}

// Of is the use of the file with a key of the table's store.
func (r *References) Of(key string) Use { return r.uses[maphash.String(r.seed, key)] }

func (r *References) set(key string, use Use) {
	hash := maphash.String(r.seed, key)
	r.uses[hash] = max(r.uses[hash], use)
}

// history takes a commit up to the newest version. Its errors, and those of what follows, are *PathError.
func (r *References) history(c *commitlog.Commit) error {
	recent := c.Time().After(r.since)
	for i := range c.Removes {
		use := Removed
		if recent {
			use = Needed
		}
		if err := r.remove(c.Version, &c.Removes[i], use); err != nil {
			return err
		}
	}
	for i := range c.CDCs {
		if recent {
			if err := r.file(c.Version, c.CDCs[i].Path, nil, Needed); err != nil {
				return err
			}
		}
	}
	return nil
}

// remove takes a remove action of a version; by its own time it may be needed though its commit does not say so.
func (r *References) remove(version int64, action *commitlog.Remove, use Use) error {
	if time.UnixMilli(action.DeletionTimestamp).After(r.since) {
		use = Needed
	}
	return r.file(version, action.Path, action.DeletionVector, use)
}

// news takes a commit that came after the newest version that was read.
func (r *References) news(c *commitlog.Commit) error {
	for i := range c.Adds {
		if err := r.file(c.Version, c.Adds[i].Path, c.Adds[i].DeletionVector, Needed); err != nil {
			return err
		}
	}
	for i := range c.CDCs {
		if err := r.file(c.Version, c.CDCs[i].Path, nil, Needed); err != nil {
			return err
		}
	}
	return nil
}

// file takes a file that a version names, with its deletion vector.
func (r *References) file(version int64, path string, v *commitlog.DeletionVector, use Use) error {
	paths := []string{path}
	if v != nil {
		vector, err := v.Path()
		if err != nil {
			return &PathError{version, path, fmt.Errorf("deletion vector of file %s: %w", path, err)}
		}
		if vector != "" {
			paths = append(paths, vector)
		}
	}
	for _, p := range paths {
		keys, err := keysOf(p)
		if err != nil {
			return &PathError{version, path, err}
		}
		for _, key := range keys {
			r.set(key, use)
		}
	}
	return nil
}

var withScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// keysOf are the keys that a path of the log may mean. An absolute one may lead into the folder under another name (a link, a
// mount, s3a: for s3:), so it stands for each file whose key it ends with.
func keysOf(logged string) ([]string, error) {
	decoded, err := commitlog.PathDecode(logged)
	if err != nil {
		return nil, err
	}
	keys := []string{path.Clean(decoded)}
	if !strings.HasPrefix(decoded, "/") && !withScheme.MatchString(decoded) {
		return keys, nil
	}
	for rest := keys[0]; ; {
		_, below, more := strings.Cut(rest, "/")
		if !more {
			return keys, nil
		}
		keys = append(keys, below)
		rest = below
	}
}
