// Package model holds the test that puts a table through random histories, beside a model that is a map of rows for each
// version.
//
// It owns no code outside of tests. A world is one table in a folder, at times a clone of another table's files, with several handles on it as processes have them:
// each with what it last knew of the table, and each may die or be lied to at any operation on storage. A step is one
// operation of a handle, at times with another one in the middle of it; then the log says what has come of it, and the model
// follows. Whatever happened, all of this holds:
//
//   - each commit is one that was asked for, and each that was asked for is there at most once; once if its handle was told so,
//     and not at all if it was told otherwise and lives;
//   - the newest version, and older ones that no cleanup of the log and no vacuum may have touched, have exactly the model's rows, also by a
//     condition, and the statistics count them; what a vacuum may have touched is read as it was, or not at all;
//   - each version is clustered by the model's columns;
//   - fsck finds no fault but files that a step takes away, and a repair loses their rows and no others.
//
// At the end nothing is left in the folder but what the newest version needs, and the folder of a table that was cloned is as it was.
//
// Random choices come from a seed that is printed with each history, and that SLUICE_MODEL_SEED sets.
package model
