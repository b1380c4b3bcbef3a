package tabletest

import (
	"testing"

	"github.com/google/uuid"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/internal/seqtest"
	"github.com/sluicedata/sluice/storage"
)

// Clone makes a table of the files of another one, with one commit, as Spark's SHALLOW CLONE does: its paths are absolute, and so
// are those of deletion vectors; it is clustered by the same columns. Both are what named makes of a path that is relative to the other table.
func Clone(tb testing.TB, source, clone storage.Store, named func(path string) string) {
	tb.Helper()
	state, err := commitlog.New(source).Files(tb.Context(), -1)
	if err != nil {
		tb.Fatal(err)
	}
	tx := commitlog.Transaction{ReadVersion: commitlog.NoTable}
	metadata := state.Metadata
	metadata.ID = uuid.NewString()
	tx.Actions.Protocol, tx.Actions.Metadata = &state.Protocol, &metadata
	tx.Actions.Info = &commitlog.CommitInfo{Operation: "CLONE", OperationParameters: map[string]any{
		"source": "delta.`" + source.URL() + "`", "sourceVersion": state.Version, "isShallow": true,
	}}
	if clustering, has := state.Domains["delta.clustering"]; has {
		tx.Actions.Domains = []commitlog.DomainMetadata{clustering}
	}
	for _, a := range seqtest.All(tb, state.Files.All(tb.Context())) {
		a.Path, a.DataChange = named(a.Path), true
		a.DeletionVector = absoluteVector(tb, a.DeletionVector, named)
		tx.Actions.Adds = append(tx.Actions.Adds, a)
	}
	if _, err := commitlog.New(clone).Commit(tb.Context(), tx); err != nil {
		tb.Fatal(err)
	}
}

// absoluteVector is a vector in a file, by the absolute path of that; one in the log stays as it is.
func absoluteVector(tb testing.TB, v *commitlog.DeletionVector, named func(path string) string) *commitlog.DeletionVector {
	tb.Helper()
	if v == nil || v.StorageType == "i" {
		return v
	}
	path, err := v.Path()
	if err != nil {
		tb.Fatal(err)
	}
	moved := *v
	moved.StorageType, moved.PathOrInlineDv = "p", named(path)
	return &moved
}
