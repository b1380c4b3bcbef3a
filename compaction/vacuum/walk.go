package vacuum

import (
	"context"
	"errors"
	"strings"

	"github.com/sluicedata/sluice/storage"
)

// Walk calls fn for each file in the table's folder that could be deleted but for its use and its age, in byte order of the
// keys. An error of fn ends it and is returned as it is.
func (p *Plan) Walk(ctx context.Context, fn func(storage.Info, Use) error) error {
	tables := map[string]bool{}
	return p.store.List(ctx, "", "", func(info storage.Info) error {
		if hidden(info.Key, p.partitions) {
			return nil
		}
		use := p.References.Of(info.Key)
		if use == Orphan {
			if foreign, err := p.foreign(ctx, info.Key, tables); err != nil || foreign {
				return err
			}
		}
		return fn(info, use)
	})
}

var errFound = errors.New("found")

// foreign says whether a file lies in the folder of another table, below this one's. tables has the folders that are known
// to be one, or not. Nobody puts a table into the folder of a partition.
func (p *Plan) foreign(ctx context.Context, key string, tables map[string]bool) (bool, error) {
	for at, ch := range key {
		if ch != '/' {
			continue
		}
		folder := key[:at]
		name := folder[strings.LastIndexByte(folder, '/')+1:]
		if name == changeData || isPartition(name, p.partitions) {
			continue
		}
		is, known := tables[folder]
		if !known {
			err := p.store.List(ctx, folder+"/_delta_log/", "", func(storage.Info) error { return errFound })
			if is = errors.Is(err, errFound); err != nil && !is {
				return false, err
			}
			tables[folder] = is
		}
		if is {
			return true, nil
		}
	}
	return false, nil
}
