// Package zorder puts the rows of a group of data files into the order of a Hilbert curve through some of their columns, so
// that each new file has few of the values of each of these columns, and a query on any of them skips most files.
//
// A first pass over the columns takes a sample of them, whose quantiles divide the values of each into 1024 ranges of about as many rows
// (quantiles.go). A row's place on the curve through its ranges is its key (hilbert.go). A second pass takes whole
// rows as bytes (row.go), sorts them in memory by key, and spills what does not fit as sorted runs to unnamed files (sorter.go, spill.go);
// these are merged on the way into the table (merge.go).
//
// Invariants:
//
//   - Rows come out as often as they went in, or there is an error. A block of a run whose checksum differs is one.
//   - Memory is bounded by the account, plus a record for each reader, whatever the number of rows.
//   - A scratch file has no name: it is gone when the process is, however it ends.
//   - Values of a column are ordered as Spark orders them: null first, NaN last, both zeros the same, texts by their bytes.
package zorder
