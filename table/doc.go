// Package table is a Delta Lake table as rows: what may be appended to it, its data files with their statistics, and a scan
// of any version.
//
// It stands on commitlog, which knows versions and actions but no rows, and on storage. Words: an Append is one batch on its
// way in; a partition is one combination of values of the table's partition columns; a part is one data file being
// written. Rows come and go as Arrow records in the types of package schema. From a record to pages the way is bind.go
// (which array is which column), levels.go (entries with their levels), page_values.go and texts.go (values as they are
// encoded), chunk.go (pages) and encoder.go (one Parquet file); from pages to
// a record it is source_columns.go (which leaf of the file is which column), leaf_column.go (rows of a leaf), leaf_reader.go and leaf_values.go (its
// values) and assemble.go.
//
// Invariants:
//
//   - Nothing that is written can be read from the table before the one commit of its Append, and all of it after.
//   - A data file's name holds a fresh UUID. No file is written twice, none is changed.
//   - Rows of a partition keep the order in which they were written.
//   - Statistics in the log are exact or absent: a value that cannot be told in a bound (NaN, a string that is no UTF-8, a
//     year that has no four digits) leaves the bound out.
//   - Paths in the log are made of [A-Za-z0-9._=/-] alone. Partition columns are in the log, not in the files.
//   - Memory is bounded by Options.Memory plus one record, whatever the number of partitions.
//   - Rows leave the table only by a Restore, which is one commit: there is no overwrite and no delete here.
package table
