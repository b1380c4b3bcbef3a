// Package compaction keeps a table in shape: it rewrites small files into larger ones while ingestion and other engines go
// on.
//
// A plan puts small files of one partition into groups that are as large as the table wants its files; each group is
// rewritten and committed by itself, as an OPTIMIZE that changes no row. Words are Delta's.
//
// Invariants:
//
//   - The rows of a group before and after are the same; a file that holds other rows than the log says ends the run before
//     anything is committed.
//   - Appends of others never make a group fail, and a group never makes an append fail. A group loses only to whoever
//     removes or replaces one of its files, or changes the table itself, and is left to the next run then.
//   - Nothing is deleted: the old files stay, for readers of older versions, until a vacuum.
//   - Memory for rows does not grow with the files or their number. Of the files the plan holds the descriptions.
//   - It imports table, commitlog, storage, schema and memory, and is imported by nothing but the command line and package
//     pipeline.
package compaction
