// Package commitlog owns a Delta Lake table's transaction log: it reads its commits, replays them, and adds commits of
// its own, each with one put-if-absent.
//
// It is the place of Sluice's only commit point. Package table makes Parquet files and hands their Add actions over in a
// Transaction; Log.Commit makes them visible, all or none, at the next free version. Words: a Commit is the content of
// one _delta_log/<version>.json; the Head is what an appender has to know of the table (version, protocol, metadata,
// batches by appId, counters), kept in memory and moved on by the log's own commits; a State is all that a reader has to
// know, with every live file, and is replayed when asked for. Section numbers of rules below are headings of Delta's
// PROTOCOL.md.
//
// Invariants:
//
//   - Versions are contiguous from 0. A hole is a CorruptError, never skipped.
//   - In the steady state a commit is one PutIfAbsent and nothing else; its cost depends neither on the number of files
//     nor on the number of versions. Only Load, Files and Commits list.
//   - A put whose outcome is unknown is read back before anything else is done. A commit is recognised as our own by
//     commitInfo.txnId, which is fresh for every Transaction and the same in all of its tries.
//   - An error of Commit other than UnknownError means that the transaction is not in the log and never will be.
//   - A batch (appId, version of its txn action) gets into the log once, be it by a commit of its own or covered by a later
//     one. Whoever finds it there by another hand is told so by a FencedError.
//   - A Head, once returned, never changes.
//   - Nothing is written that a reader could take in two ways: no null for an absent option, at most one add and one
//     remove for a path, in a fixed order with commitInfo first.
//
// Log checkpoints (the Parquet summaries of Checkpoints in PROTOCOL.md) are not read. A table whose JSON commits are all
// there, from 0 to the newest version, has the same state with and without them, so it is read from its commits. One
// whose early commits have been cleaned up is refused with an UnsupportedError that names "log checkpoints".
//
// Of an add and a remove of the same file in one commit, which PROTOCOL.md forbids, the remove counts, as it does in
// delta-kernel-rs.
package commitlog
