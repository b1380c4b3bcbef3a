package table

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/storage"
)

// part is one data file being written.
type part struct {
	key    string
	staged storage.Staged
	enc    *encoder
}

// finished is a data file that is complete and published, but that nothing refers to yet.
type finished struct {
	add    commitlog.Add
	staged storage.Staged
	rows   int64
}

// partKey names a data file: fresh in every attempt, so that a late writer cannot touch what a commit refers to.
func partKey(folder string, number int, infix string) string {
	return fmt.Sprintf("%spart-%05d-%s.c000%s.parquet", folder, number, uuid.NewString(), infix)
}

func beginPart(ctx context.Context, store storage.Store, key string, enc *encoder) (*part, error) {
	staged, err := store.Stage(ctx, key)
	if err != nil {
		return nil, err
	}
	p := &part{key: key, staged: staged, enc: enc}
	if err := enc.begin(staged); err != nil {
		return nil, errors.Join(err, staged.Abort(ctx))
	}
	return p, nil
}

// finish completes the file and publishes it.
func (p *part) finish(ctx context.Context, values map[string]*string) (finished, error) {
	size, err := p.enc.end()
	if err != nil {
		return finished{}, err
	}
	if err := p.staged.Publish(ctx); err != nil {
		return finished{}, err
	}
	stats := p.enc.stats()
	return finished{
		staged: p.staged,
		rows:   stats.rows,
		add: commitlog.Add{
			Path:            commitlog.PathEncode(p.key),
			PartitionValues: values,
			Size:            size,
			DataChange:      true,
			Stats:           stats.render(),
		},
	}, nil
}
