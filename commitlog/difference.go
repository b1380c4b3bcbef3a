package commitlog

import (
	"context"
	"iter"
)

// Without goes through the files that another state does not have, or has with other rows deleted. Errors are those of All.
func (f *Files) Without(ctx context.Context, other *Files) iter.Seq2[Add, error] {
	keys := make(map[FileKey]struct{}, other.Len())
	for key := range other.Keys() {
		keys[key] = struct{}{}
	}
	return f.wanted(ctx, func(a *Add) bool {
		_, both := keys[a.Key()]
		return !both
	})
}
