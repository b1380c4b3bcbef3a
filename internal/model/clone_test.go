package model

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/internal/seqtest"
	"github.com/sluicedata/sluice/internal/tabletest"
	"github.com/sluicedata/sluice/table"
)

// clone is a world whose table has the files of this one's newest version, as another engine's shallow clone.
func (w *world) clone() *world {
	c := newWorld(w.tb, w.random)
	c.trace, c.clock, c.nextID, c.partitioned = append(w.trace, "cloned"), w.clock, w.nextID, w.partitioned
	c.source, c.sourceFiles = w, w.dataFiles()
	scheme := []string{"", "file:", "file://"}[w.random.IntN(3)]
	named := func(path string) string { return scheme + commitlog.PathEncode(w.folder) + "/" + path }
	tabletest.Clone(w.tb, w.handles[0].local, c.handles[0].local, named)
	theirs, ours := w.handles[0].adds(w.tb), c.handles[0].adds(w.tb)
	for i := range theirs {
		if v := theirs[i].DeletionVector; v != nil {
			c.vectors[ours[i].DeletionVector.ID()] = w.vectors[v.ID()]
		}
	}
	newest := w.versions[w.newest()]
	c.first = version{rows: newest.rows, files: map[string]bool{}, clustering: newest.clustering}
	c.settle()
	return c
}

// adds are those of the newest version, in the order of their paths.
func (h *handle) adds(tb testing.TB) []commitlog.Add {
	state, err := commitlog.New(h.local).Files(tb.Context(), table.Newest)
	if err != nil {
		tb.Fatal(err)
	}
	adds := seqtest.All(tb, state.Files.All(tb.Context()))
	slices.SortFunc(adds, func(a, b commitlog.Add) int { return cmp.Compare(a.Path, b.Path) })
	return adds
}

// checkSource has the folder of the table that was cloned be as it was, but for what was lost.
func (w *world) checkSource() {
	if w.source == nil {
		return
	}
	want := slices.DeleteFunc(slices.Clone(w.sourceFiles), func(path string) bool {
		return slices.ContainsFunc(slices.Collect(maps.Keys(w.gone)), func(gone string) bool { return strings.HasSuffix(gone, "/"+path) })
	})
	if left := w.source.dataFiles(); !slices.Equal(left, want) {
		w.fatalf("in the folder of the source are %q instead of %q", left, want)
	}
}
