// Package parquetfile opens Parquet files that anybody wrote, and walks over their columns page by page or value by value.
//
// Package table reads data files with it, by pages, package commitlog log checkpoints, by values. It knows no Delta: what the values mean is
// theirs to say.
//
// Invariants:
//
//   - No bytes of a file make it panic or allocate more than the file can account for by its own size: what the decoder
//     answers with a panic becomes an error, and what it would read as other values is refused before it does.
//   - A value that a Cursor handed out stays as it is until it goes on.
package parquetfile
