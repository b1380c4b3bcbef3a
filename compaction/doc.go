// Package compaction is the place of what keeps a table in shape: rewriting small files into larger ones, clustering,
// vacuum, and the comparison of log and storage.
//
// It holds no code yet. Tables that Sluice writes are ordinary Delta tables, and any engine's OPTIMIZE and VACUUM may run
// on them beside ingestion: appends are blind and always rebase over rewrites.
//
// Invariants: it imports table, commitlog and storage, and is imported by nothing but the command line and package
// pipeline.
package compaction
