package commitlog

import "iter"

// Without goes through the files that another state does not have, or has with other rows deleted.
func (f *Files) Without(other *Files) iter.Seq[Add] {
	return func(yield func(Add) bool) {
		keys := make(map[FileKey]struct{}, other.Len())
		for key := range other.Keys() {
			keys[key] = struct{}{}
		}
		for a := range f.All() {
			if _, both := keys[a.Key()]; !both && !yield(a) {
				return
			}
		}
	}
}
