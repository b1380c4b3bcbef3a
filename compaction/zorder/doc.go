// Package zorder puts the rows of a group of data files into the order of a Hilbert curve through some of their columns, so
// that each new file has few of the values of each of these columns, and a query on any of them skips most files.
//
// A first pass over the columns takes a sample of them, whose quantiles divide the values of each into 1024 ranges of about as many rows
// (ordered.go, quantiles.go). A row's place on the curve through its ranges is its key (hilbert.go). A second pass takes all columns, as Arrow has
// them (column.go, shape.go, arrays.go), but for texts that files have in dictionaries, which get a number in one dictionary of the
// whole group (dictionary.go). Rows that do not fit into memory are gathered by ranges of keys, whose limits are quantiles of the sample as well, and go
// to an unnamed file, a block for each range (sorter.go, scratch.go). Then one range after the other is sorted and gathered on its way into the
// table (sorted.go, radix.go); one that does not fit into memory by itself is divided again. So a row that fits is moved once, another twice, and once more for each time that its range is
// divided, always column by column.
//
// Invariants:
//
//   - Rows come out as often as they went in, or there is an error. A block whose checksum differs is one.
//   - Rows of one key stay in the order in which they were read.
//   - Memory is bounded by the account, plus a record for each reader and one on its way out, whatever the number of rows, and however many
//     have one key.
//   - A scratch file has no name: it is gone when the process is, however it ends.
//   - Values of a column are ordered as Spark orders them: null first, NaN last, both zeros the same, texts by their bytes.
package zorder
