// Package commitlog owns a Delta Lake table's transaction log: it reads its commits, replays them, and adds commits of
// its own, each with one put-if-absent.
//
// It is the place of Sluice's only commit point. Package table makes Parquet files and hands their Add actions over in a
// Transaction; Log.Commit makes them visible, all or none, at the next free version. Words: a Commit is the content of
// one _delta_log/<version>.json; the Head is what an appender has to know of the table (version, protocol, metadata,
// batches by appId), kept in memory and moved on by the log's own commits; a State is all that a reader has to
// know, with every live file, and is replayed when asked for. Section numbers of rules below are headings of Delta's
// PROTOCOL.md.
//
// Invariants:
//
//   - The commits behind a checkpoint are contiguous, or those from 0 on if there is none. A hole is a CorruptError, never
//     skipped.
//   - In the steady state a commit is one PutIfAbsent and nothing else; its cost depends neither on the number of files
//     nor on the number of versions. Only Load, Files, Commits and Locate list.
//   - A put whose outcome is unknown is read back before anything else is done. A commit is recognised as our own by
//     commitInfo.txnId, which is fresh for every Transaction and the same in all of its tries.
//   - An error of Commit other than UnknownError means that the transaction is not in the log and never will be.
//   - A batch (appId, version of its txn action) gets into the log once, be it by a commit of its own or covered by a later
//     one. Whoever finds it there by another hand is told so by a FencedError.
//   - A Head, once returned, never changes.
//   - Nothing is written that a reader could take in two ways: no null for an absent option, at most one add and one
//     remove for a path, in a fixed order with commitInfo first.
//
// A version is read from a segment of the log: the newest whole log checkpoint ("Checkpoints") at or below it, and the
// commits behind that. Classic checkpoints, those in parts, and those of V2 in Parquet and JSON with their sidecars are read.
// _last_checkpoint only tells where to begin listing. A Head takes of a checkpoint the few rows that are not about files. A
// damaged checkpoint is passed over if the version can be read from an older one or from the commits alone. A checkpoint tells
// of an application's newest batch and not of the commit that it came with; Locate looks for that. Statistics, which are most of a
// checkpoint in Parquet, are not read with it but when Files.All or Files.Rows asks for them, and held against the paths beside them: that they
// are damaged, or have been deleted or replaced since, is an error of that. Verify reads them, and so does a cleanup before it deletes
// what comes before.
//
// Log checkpoints are also written (Checkpoint): from a state as it is replayed, row group by row group, and put in one piece.
// _last_checkpoint comes last, and is the one object that is replaced.
//
// Of an add and a remove of the same file in one commit, which PROTOCOL.md forbids, the remove counts, as it does in
// delta-kernel-rs.
package commitlog
