package table

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/storage"
)

// place is a file of the log where it is read: in the table's folder, or elsewhere.
type place struct {
	reader    storage.Reader
	key       string // there
	root      string // commitlog.Place.Root
	elsewhere string // what to call a file that is not in the table's folder
}

// name is what messages call the file.
func (p *place) name() string { return cmp.Or(p.elsewhere, p.key) }

// place finds a file of the snapshot by its path in the log. Errors are those of commitlog.PlaceOf.
func (s *Snapshot) place(path string) (place, error) {
	store := s.table.store
	at, err := commitlog.PlaceOf(store.URL(), path)
	var unsupported *commitlog.UnsupportedError
	if errors.As(err, &unsupported) {
		unsupported.Detail += fmt.Sprintf(" of version %d", s.Version())
		return place{}, unsupported
	}
	if err != nil {
		return place{}, fmt.Errorf("table %s, version %d: %w", store.URL(), s.Version(), err)
	}
	p := place{reader: store, key: at.Key, root: at.Root}
	if at.Root != "" {
		p.elsewhere = fmt.Sprintf("%s (outside of the table's folder, version %d)", path, s.Version())
		p.reader, err = storage.Elsewhere(store, at.Root)
	}
	return p, err
}

// open opens the file.
func (p *place) open(ctx context.Context) (storage.Object, error) {
	object, err := p.reader.Open(ctx, p.key)
	return object, p.failed(err)
}

// failed is the error of an operation on the file: what to do if it is not there, and its whole path if that is not of the table's folder.
func (p *place) failed(err error) error {
	var stored *storage.Error
	missing := errors.Is(err, storage.ErrNotExist)
	if !errors.As(err, &stored) || p.root == "" && !missing {
		return err
	}
	cause, advice := stored.Err, "if the version is an old one, a vacuum has deleted it: read a newer one; else sluice fsck tells what is missing"
	if p.root != "" {
		advice = "if it belongs to another table, a vacuum of that one has deleted it: restore it from a copy, or have what is missing removed from this table"
	}
	if missing {
		cause = fmt.Errorf("%w; %s", cause, advice)
	}
	return &storage.Error{Op: stored.Op, Key: p.name(), Err: cause}
}

// statAll describes files as storage.StatAll does, wherever they are.
func statAll(ctx context.Context, places []place) ([]storage.Info, error) {
	byRoot := map[string][]int{}
	for i, p := range places {
		byRoot[p.root] = append(byRoot[p.root], i)
	}
	infos := make([]storage.Info, len(places))
	for _, some := range byRoot {
		keys := make([]string, len(some))
		for i, at := range some {
			keys[i] = places[at].key
		}
		found, err := storage.StatAll(ctx, places[some[0]].reader, keys)
		if err != nil {
			return nil, err
		}
		for i, at := range some {
			infos[at] = found[i]
		}
	}
	return infos, nil
}
