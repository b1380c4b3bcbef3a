// Package fsck finds out whether a table is whole: whether its log is, and whether its files are what the log says.
//
// It reads the log from end to end, opens each file of the newest version, and looks for files that no commit refers to.
// Nothing is changed but by RemoveMissing. Words are Delta's; what a fault of the log is, commitlog.Log.Verify says, of a
// file table.Snapshot.Check.
//
// Invariants:
//
//   - A table that other engines wrote by the protocol has no faults.
//   - A fault is what was seen in storage. An error of storage is none: it ends the check.
//   - Memory grows with the files of the table as the log's own does, and with the faults.
package fsck
