package commitlog

import (
	"context"
	"iter"
)

// Without goes through the files that another state does not have, or has with other rows deleted. Errors are those of All.
func (f *Files) Without(ctx context.Context, other *Files) iter.Seq2[Add, error] {
	index := other.liveIndex()
	return f.wanted(ctx, func(a *Add) bool {
		_, _, both := other.findIn(&index, []byte(a.Path), a.DeletionVector.ID())
		return !both
	})
}

// liveIndex finds the live files, also when they have been sealed.
func (f *Files) liveIndex() fileIndex {
	var index fileIndex
	index.grow(f.live + 1)
	var room [256]byte
	for id := range f.rows.n {
		if r := f.rows.at(id); !r.dead {
			slot, hash, _ := f.findIn(&index, f.appendPath(room[:0], r), f.extras[id].dv.ID())
			index.set(slot, hash, id)
		}
	}
	return index
}
