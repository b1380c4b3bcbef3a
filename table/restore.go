package table

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/sluicedata/sluice/commitlog"
)

// Restore is what makes a table what it was at an earlier version, in one commit: Delta's RESTORE. Files that have come since are
// removed, and those that have gone are added again; nothing is copied. Schema, partitioning and properties become those of
// then. What never goes back stays: the protocol, the table's id, the batches of applications (txn), and what tells times,
// column ids and row ids.
type Restore struct {
	table       *Table
	From, To    int64 // the newest version, and the one restored
	Parameters  map[string]any
	Commit      commitlog.Commit // without commitInfo
	left        int              // files of the table after it
	leftBytes   int64
	bytes, gone int64 // of the files that are added again, and of those that are removed
}

// PlanRestore compares a version with the newest one. Errors are those of Snapshot.
func (t *Table) PlanRestore(ctx context.Context, to *Snapshot) (*Restore, error) {
	newest, err := t.Snapshot(ctx, Newest)
	if err != nil {
		return nil, err
	}
	r := &Restore{table: t, From: newest.Version(), To: to.Version(), Parameters: map[string]any{"version": strconv.FormatInt(to.Version(), 10)}}
	r.left, r.leftBytes = to.state.Files.Len(), to.state.Files.Bytes()
	if r.Commit, err = restoration(ctx, newest.state, to.state, t.options.Now()); err != nil {
		return nil, fmt.Errorf("restore version %d: %w", to.Version(), err)
	}
	for i := range r.Commit.Adds {
		r.bytes += r.Commit.Adds[i].Size
	}
	for i := range r.Commit.Removes {
		r.gone += *r.Commit.Removes[i].Size
	}
	return r, nil
}

// restoration is the commit that leads from one state to another.
func restoration(ctx context.Context, from, to *commitlog.State, now time.Time) (commitlog.Commit, error) {
	c := commitlog.Commit{Domains: restoredDomains(from.Domains, to.Domains)}
	for a, err := range from.Files.Without(ctx, to.Files) {
		if err != nil {
			return c, err
		}
		r := removal(&a, now.UnixMilli())
		r.DataChange = true
		c.Removes = append(c.Removes, r)
	}
	for a, err := range to.Files.Without(ctx, from.Files) {
		if err != nil {
			return c, err
		}
		a.DataChange = true
		c.Adds = append(c.Adds, a)
	}
	if m := restoredMetadata(from.Metadata, to.Metadata); !m.Equal(from.Metadata) {
		c.Metadata = &m
	}
	protocol, err := from.Protocol.With(to.Protocol.Features()...)
	if err != nil {
		return c, err
	}
	if !protocol.Equal(from.Protocol) {
		c.Protocol = &protocol
	}
	return c, nil
}

// stay are the properties that a restore leaves as they are.
var stay = []string{
	timestampsProperty, "delta.inCommitTimestampEnablementVersion", "delta.inCommitTimestampEnablementTimestamp",
	"delta.columnMapping.maxColumnId",
}

func restoredMetadata(from, to commitlog.Metadata) commitlog.Metadata {
	to.ID, to.CreatedTime = from.ID, from.CreatedTime
	to.Configuration = maps.Clone(to.Configuration)
	for _, property := range stay {
		if v, has := from.Configuration[property]; has {
			to.Configuration[property] = v
		} else {
			delete(to.Configuration, property)
		}
	}
	return to
}

// rowIDs is the domain that says which row ids have been given; it only grows ("Row Tracking").
const rowIDs = "delta.rowTracking"

func restoredDomains(from, to map[string]commitlog.DomainMetadata) []commitlog.DomainMetadata {
	var changed []commitlog.DomainMetadata
	for _, name := range slices.Sorted(maps.Keys(from)) {
		if _, both := to[name]; !both && name != rowIDs {
			d := from[name]
			d.Removed = true
			changed = append(changed, d)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(to)) {
		if to[name] != from[name] && name != rowIDs {
			changed = append(changed, to[name])
		}
	}
	return changed
}

// Nothing says whether the table is as it was.
func (r *Restore) Nothing() bool {
	c := &r.Commit
	return len(c.Adds)+len(c.Removes)+len(c.Domains) == 0 && c.Metadata == nil && c.Protocol == nil
}

// Check asks the store for each file that is to be added again, and for its deletion vector. The error names those that are gone.
func (r *Restore) Check(ctx context.Context, s *Snapshot) error {
	var places []place // one a file, and one a vector
	var paths []string
	for i := range r.Commit.Adds {
		a := &r.Commit.Adds[i]
		own, err := s.placesOf(a)
		if err != nil {
			return err
		}
		for _, at := range own {
			places, paths = append(places, at), append(paths, a.Path)
		}
	}
	infos, err := statAll(ctx, places)
	if err != nil {
		return err
	}
	var gone []string
	for i, info := range infos {
		if info.Key == "" {
			gone = append(gone, paths[i])
		}
	}
	if len(gone) == 0 {
		return nil
	}
	slices.Sort(gone)
	gone = slices.Compact(gone)
	return fmt.Errorf("%d of the %d files that version %d had besides are gone, %s first; they have been vacuumed: restore a later version",
		len(gone), len(r.Commit.Adds), r.To, gone[0])
}

// placesOf are where a file lies, and the file of its deletion vector if it has one.
func (s *Snapshot) placesOf(a *commitlog.Add) ([]place, error) {
	paths := []string{a.Path}
	if a.DeletionVector != nil {
		vector, err := a.DeletionVector.Path()
		if err != nil {
			return nil, err
		}
		if vector != "" { // else it is in the log
			paths = append(paths, vector)
		}
	}
	places := make([]place, len(paths))
	for i, path := range paths {
		var err error
		if places[i], err = s.place(path); err != nil {
			return nil, err
		}
	}
	return places, nil
}

// Put puts the commit, and returns its version. Whoever changes files, the table itself or what it is clustered by meanwhile makes it fail
// with a *commitlog.ConflictError.
func (r *Restore) Put(ctx context.Context) (int64, error) {
	tx := commitlog.Transaction{ReadVersion: r.From, Actions: r.Commit, Whole: true}
	tx.Actions.Info = &commitlog.CommitInfo{
		Operation: "RESTORE", OperationParameters: r.Parameters, OperationMetrics: r.Metrics(), EngineInfo: r.table.engine(),
	}
	return r.table.change(ctx, tx)
}

// Metrics are those that Spark's RESTORE gives.
func (r *Restore) Metrics() map[string]string {
	texts := map[string]string{}
	for name, n := range map[string]int64{
		"numRestoredFiles": int64(len(r.Commit.Adds)), "restoredFilesSize": r.bytes,
		"numRemovedFiles": int64(len(r.Commit.Removes)), "removedFilesSize": r.gone,
		"numOfFilesAfterRestore": int64(r.left), "tableSizeAfterRestore": r.leftBytes,
	} {
		texts[name] = strconv.FormatInt(n, 10)
	}
	return texts
}
