package table

import (
	"maps"
	"slices"

	"github.com/sluicedata/sluice/schema"
)

// keptBytes is how much an append may have taken in, in bytes, for its encoders to be kept: their buffers are about as large.
const keptBytes = 4 << 20

// form is what decides how a table's files are written.
type form struct {
	schema     *schema.Type
	partitions []string
	clustering []string // dotted paths of columns that have statistics, whatever the properties say
	properties map[string]string
}

// kept is what one append leaves to the next of its table, so that small ones do not each lay out their files and let
// buffers grow anew.
type kept struct {
	form

	layout    *layout
	spare     []*encoder
	workspace *workspace // of the encoders
}

// take returns what was kept, if it is for such files. Nobody else gets it meanwhile.
func (t *Table) take(s form) *kept {
	k := t.kept.Swap(nil)
	if k == nil || k.schema != s.schema || !slices.Equal(k.partitions, s.partitions) || !slices.Equal(k.clustering, s.clustering) ||
		!maps.Equal(k.properties, s.properties) {
		return nil
	}
	return k
}

// keep leaves the writer's layout, and its encoders unless they may have become large.
func (w *writer) keep() {
	if w.taken > keptBytes {
		w.kept.spare, w.kept.workspace = nil, &workspace{}
	}
	w.table.kept.Store(w.kept)
}
