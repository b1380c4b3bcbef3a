package table

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/google/uuid"
)

// Tags of files whose rows are in an order, which Delta's OPTIMIZE writes and reads (AddFile.Tags). They are advice.
const (
	tagCube  = "ZCUBE_ID"
	tagBy    = "ZCUBE_ZORDER_BY"
	tagCurve = "ZCUBE_ZORDER_CURVE"
)

// clusteringProvider is the name of Delta's clustering: files along a Hilbert curve through the table's clustering columns, which are told by
// these tags. Whoever clusters by it takes the files of others that do for its own ("Clustered Table").
const clusteringProvider = "liquid"

// Ordering is an order of rows along a space-filling curve.
type Ordering struct {
	By    []string // the columns that the curve goes through; see SQLName
	Curve string   // hilbert
	// Clustering says that they are the columns that the table is clustered by.
	Clustering bool
}

// SQLName is a column's path as Spark writes it in tags: names with dots between, in backticks if they are no plain identifiers.
func SQLName(path []string) string {
	parts := make([]string, len(path))
	for i, name := range path {
		if parts[i] = name; !isIdentifier(name) {
			parts[i] = "`" + strings.ReplaceAll(name, "`", "``") + "`"
		}
	}
	return strings.Join(parts, ".")
}

// isIdentifier says whether a name is one of SQL without quotes.
func isIdentifier(name string) bool {
	for i, r := range name {
		if letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '_'; !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// SQLNames are those of several columns.
func SQLNames(paths [][]string) []string {
	names := make([]string, len(paths))
	for i, path := range paths {
		names[i] = SQLName(path)
	}
	return names
}

// ordered says that files were written together in an order; nil: in none.
type ordered struct {
	Ordering
	cube string // names the files that were written together; a UUID
}

func (o *ordered) tags() map[string]string {
	if o == nil {
		return nil
	}
	return map[string]string{tagCube: o.cube, tagBy: jsonText(o.By), tagCurve: o.Curve}
}

func (o *ordered) provider() string {
	if o == nil || !o.Clustering {
		return ""
	}
	return clusteringProvider
}

// parameters are those of Spark's OPTIMIZE.
func (o *ordered) parameters() map[string]any {
	zOrderBy, clusterBy := []string{}, []string{}
	switch {
	case o == nil:
	case o.Clustering:
		clusterBy = o.By
	default:
		zOrderBy = o.By
	}
	return map[string]any{"predicate": "[]", "zOrderBy": jsonText(zOrderBy), "clusterBy": jsonText(clusterBy), "auto": false}
}

// Cube names the files that the file was put into such an order with; empty: it was not.
func (f *File) Cube(o Ordering) string {
	tags := f.add.Tags
	if tags[tagBy] != jsonText(o.By) {
		return ""
	}
	if o.Clustering && f.add.ClusteringProvider != clusteringProvider || !o.Clustering && tags[tagCurve] != o.Curve {
		return ""
	}
	return tags[tagCube]
}

// ClusteredElsewhere says that the file is of another implementation of clustering, which is not to be taken apart by this one.
func (f *File) ClusteredElsewhere() bool {
	p := f.add.ClusteringProvider
	return p != "" && p != clusteringProvider
}

// Order has the commit say that the rows, which Write is to be given in that order, are ordered so.
func (r *Rewrite) Order(o Ordering) { r.ordered = &ordered{o, uuid.NewString()} }

// ArrowSchema is that of the records that Write takes and Scan hands out: the table's columns without those that it is
// partitioned by.
func (r *Rewrite) ArrowSchema() *arrow.Schema { return r.stored.ArrowSchema() }

// Scan hands the rows of a file of the partition to fn, without the deleted ones, with some columns, or all if none is named. Texts that the file has in a
// dictionary are in one in the records, whose arrays begin with their buffers. It is safe for concurrent use, of Replace and Write as well.
func (r *Rewrite) Scan(ctx context.Context, f *File, columns []string, fn func(arrow.Record) error) error {
	if err := r.checkPartition(f); err != nil {
		return fmt.Errorf("rewrite %s: %w", f.Path, err)
	}
	wanted, err := project(r.stored, columns)
	if err == nil {
		var rows *fileReader
		if rows, err = r.snapshot.reader(ctx, f, wanted, fn); err == nil {
			rows.dictionaries = true
			err = rows.read(ctx)
		}
	}
	return err
}

// Write writes rows of files that Replace is told of. An error leaves nothing to be done but Abort.
func (r *Rewrite) Write(ctx context.Context, record arrow.Record) error {
	if err := r.usable(); err != nil {
		return err
	}
	r.failed = r.writer.writeTo(ctx, r.partition, record)
	return r.failed
}
