package table

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/schema"
)

// Snapshot is a table at a version, with all of its files. Immutable; safe for concurrent use.
type Snapshot struct {
	table      *Table
	state      *commitlog.State
	schema     *schema.Type
	partitions []string
}

// File is a data file of a Snapshot.
type File struct {
	Path      string             // as in the log
	Partition map[string]Value   // by partition column; nil is null
	Values    map[string]*string // the same as the texts of the log; not to be changed
	Size      int64              // bytes
	Modified  time.Time
	Rows      int64 // without the deleted ones; -1 when the log does not say

	add     *commitlog.Add            // shared: not to be changed
	deleted *commitlog.DeletionVector // nil without one
	schema  *schema.Type              // of the table
}

// Stats reads the file's statistics, which takes longer than all else that is known of it; nil when there are none, or none that
// can be read.
func (f *File) Stats() *FileStats { return parseStats(f.schema, f.add.Stats) }

// Lean is the file without its statistics, which are most of the memory that it takes, for those who keep many.
func (f *File) Lean() File {
	lean, add := *f, *f.add
	add.Stats = ""
	lean.add = &add
	return lean
}

// Newest asks Snapshot for the newest version.
const Newest int64 = -1

// Snapshot reads the table at a version, or at the Newest. Errors are those of commitlog.Log.Files.
func (t *Table) Snapshot(ctx context.Context, version int64) (*Snapshot, error) {
	state, err := t.log.Files(ctx, version)
	if err != nil {
		return nil, err
	}
	return &Snapshot{table: t, state: state, schema: state.Schema(), partitions: state.Metadata.PartitionColumns}, nil
}

// Version is the table version.
func (s *Snapshot) Version() int64 { return s.state.Version }

// Writable refuses a table that may not be written, as it is now: an *commitlog.UnsupportedError names what stands against it.
func (s *Snapshot) Writable(ctx context.Context) error {
	head, err := s.table.log.Refresh(ctx)
	if err != nil {
		return err
	}
	return head.Writable()
}

// ID is the table's id.
func (s *Snapshot) ID() string { return s.state.Metadata.ID }

// Schema is the table's schema, partition columns among the others.
func (s *Snapshot) Schema() *schema.Type { return s.schema }

// PartitionColumns are the names of the columns that the table is partitioned by.
func (s *Snapshot) PartitionColumns() []string { return slices.Clone(s.partitions) }

// ClusteringColumns are the columns that the table is clustered by, each a path of names from the table's column down; none if it is
// not clustered. See commitlog.Head.ClusteringColumns for the error.
func (s *Snapshot) ClusteringColumns() ([][]string, error) { return s.state.ClusteringColumns() }

// StatsColumns are the dotted paths of the columns of which new files have statistics.
func (s *Snapshot) StatsColumns() (map[string]struct{}, error) {
	form, err := s.form()
	if err != nil {
		return nil, err
	}
	chosen, err := commitlog.StatsColumnsOf(form.properties)
	return chosen.With(form.clustering).Of(storedColumns(form.schema, form.partitions)), err
}

// form is that of the files that are written into the version.
func (s *Snapshot) form() (form, error) {
	clustering, err := s.ClusteringColumns()
	return form{s.schema, s.partitions, commitlog.DottedPaths(clustering), s.Properties()}, err
}

// Properties are the table's settings.
func (s *Snapshot) Properties() map[string]string { return s.state.Metadata.Configuration }

// State is the log's own view of the version. It is shared: not to be changed.
func (s *Snapshot) State() *commitlog.State { return s.state }

// Files goes through the data files, in the order in which they were committed, or in that of the log checkpoint that tells
// of them. It ends with the error of a file whose description cannot be read, or one of commitlog.Files.All.
func (s *Snapshot) Files(ctx context.Context) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		for add, err := range s.state.Files.All(ctx) {
			if err != nil {
				yield(File{}, err)
				return
			}
			f, err := s.file(&add)
			if err != nil {
				err = fmt.Errorf("table %s, version %d, file %s: %w", s.table.store.URL(), s.state.Version, add.Path, err)
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// Rows is the number of the table's rows by the statistics of its files, without the deleted ones; -1 where one of the files does not tell. It is the sum of
// File.Rows in a fraction of the time. Errors are those of Files.
func (s *Snapshot) Rows(ctx context.Context) (int64, error) { return s.state.Files.Rows(ctx) }

// Matching goes through the data files that may hold a row which fulfils the predicate, by partition values and statistics; nil:
// all of them, as Files.
func (s *Snapshot) Matching(ctx context.Context, where *Predicate) (iter.Seq2[File, error], error) {
	if where == nil {
		return s.Files(ctx), nil
	}
	if err := where.check(s.schema); err != nil {
		return nil, err
	}
	return func(yield func(File, error) bool) {
		for f, err := range s.Files(ctx) {
			if (err != nil || !where.excludes(&f)) && !yield(f, err) {
				return
			}
		}
	}, nil
}

// FilesWhere are those of Matching.
func (s *Snapshot) FilesWhere(ctx context.Context, where *Predicate) ([]File, error) {
	matching, err := s.Matching(ctx, where)
	if err != nil {
		return nil, err
	}
	var files []File
	for f, err := range matching {
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// TargetFileSize is how large the table wants its data files, in bytes.
func (s *Snapshot) TargetFileSize() (int64, error) { return targetSizeOf(s.Properties()) }

// PartitionOf is a file's partition as text, day=2024-05-01/country=NL; empty without partition columns. Files have the same
// if they are in the same partition.
func (s *Snapshot) PartitionOf(f *File) string {
	parts := make([]string, len(s.partitions))
	for i, c := range s.partitions {
		parts[i] = c + " is null"
		if v := f.Values[c]; v != nil {
			parts[i] = c + "=" + url.PathEscape(*v)
		}
	}
	return strings.Join(parts, "/")
}

func (s *Snapshot) file(add *commitlog.Add) (File, error) {
	f := File{
		add:       add,
		Path:      add.Path,
		Partition: make(map[string]Value, len(s.partitions)),
		Values:    make(map[string]*string, len(s.partitions)),
		Size:      add.Size,
		Modified:  time.UnixMilli(add.ModificationTime).UTC(),
		Rows:      commitlog.RowsOf(add.Stats, add.DeletionVector),
		deleted:   add.DeletionVector,
		schema:    s.schema,
	}
	for _, name := range s.partitions {
		at := s.schema.Index(name)
		if at < 0 {
			return f, fmt.Errorf("the schema has no partition column %s", name)
		}
		column := &s.schema.Fields[at]
		f.Values[name] = add.PartitionValues[column.StoredName()]
		v, err := parsePartition(column.Type, f.Values[name])
		if err != nil {
			return f, fmt.Errorf("partition column %s: %w", name, err)
		}
		f.Partition[name] = v
	}
	return f, nil
}
