// Package vacuum deletes the files in a table's folder that no version within its retention needs.
//
// A plan reads the log and knows of each file in the folder what the log says of it. A full vacuum lists the folder: it
// finds files that were removed from the table, and orphans, which no commit refers to. A lite one takes from the log what
// was removed, and looks for nothing else. Words are Delta's (PROTOCOL.md, "Delta Log Entries", "Add File and Remove
// File", "Vacuum Protocol Check").
//
// A file is deleted when all of this is so:
//
//   - no version that was the newest at some time within the retention has it, as data, as a deletion vector or as change
//     data, under any spelling of its path;
//   - it was written before the retention began;
//   - no attempt of a pipeline has staged it: where the store knows those, it is asked; where it does not, an orphan is to be
//     older than any attempt becomes;
//   - it is not hidden: in a folder, or of a name, that begins with _ or a dot, those of partitions and of change data aside;
//     nor does it lie in the folder of another table.
//
// The last two looks are those into what is staged and then into the log, right before files are deleted: whatever was
// published and not yet committed at the first of them is still staged, or is in the log at the second.
//
// Invariants:
//
//   - Nothing outside of the table's folder is touched, whatever paths the log has.
//   - Memory grows with the files that the log knows, by a number for each, not with those that are found.
//   - Folders stay, though they are empty: a writer may be about to put a file into one.
//   - It can end anywhere: what is left is deleted by the next one.
package vacuum
