// Package json turns JSON records into columns, exactly.
//
// It owns three things: a Decoder, which is directed by the columns and scans bytes straight into buffers of Arrow's
// layout; a Framer, which cuts files into records; and an Inferrer, which learns columns from a sample. They stand behind
// the interfaces of package format. docs/json.md has the rules for users.
//
// How it fits: a record's bytes go through one pass of the scanner (scan*.go). The columns are compiled to a tree of
// nodes (compile.go), one for each place of a record that some column wants; the walk over the record (walk.go) and the
// tree go side by side, and everything that no node wants is checked against the grammar and skipped. Values end in
// columns (column.go), which only Flush turns into Arrow.
//
// What records mostly are is read in words of eight bytes: what stands between two values (guess.go), numbers of few digits (short.go),
// timestamps (instant.go), strings of which there are few (dictionary.go); other strings of ASCII without escapes are copied in larger
// steps (copy.go). Whatever these are not sure of is read byte by byte, by code that knows all of the rules; the fuzzers hold the two
// against each other.
//
// Invariants:
//
//   - The grammar is RFC 8259's, and a record is one value in UTF-8, nested at most MaxDepth deep. All of a record is
//     checked, also what no column takes.
//   - A value is stored exactly or its record is bad. A double is the nearest one to the digits.
//   - A bad record leaves no trace: every column is cut back to the rows before it.
//   - Of duplicate keys the last wins, as a whole.
//   - A column of strings is an Arrow dictionary (dictionary.go) as long as its texts are few: each is stored once, and rows are numbers.
//     It is so for the columns inside of others, and a column in which that is not worth while is a plain one from then on.
//   - A decoder reuses its memory; a record costs no allocation once the buffers have grown.
package json
