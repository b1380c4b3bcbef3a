// Command bench measures Sluice beside what a user would pick instead: the same input on the same machine, in interleaved
// rounds, each engine a process of its own that is pinned to the same cores.
//
//	make bench
//	make bench RECORDS=300000 ROUNDS=3 ROWS='files|append'
//	go run ./bench --sluice bin/sluice -o json
//
// It owns the list of what is measured (rows.go), the inputs (shape.go, tables.go), the engines (a file each, or a file
// for a kind of work: appends.go, compactions.go, openings.go, live.go, arrivals.go), and the results as a document has
// them (report.go, document.go). Programs of their own are what has to be measured from inside (append and open, by
// package stopwatch, and latency) and what makes tables (fill, delete); the peers' are in peers. A row of the list is some
// work and the contenders that do it; the first is the one that the others are compared with. A new peer is a function
// that returns a contender, and an entry in rows.go; docs/performance.md has the method and the results.
//
// Invariants:
//
//   - A ratio is taken within a round, between runs that followed one another; what is shown is the median over the rounds, and the range.
//     Of runs over different numbers of records it is that of a record's cost.
//   - All contenders of a row that write rows have written the same ones, or the row fails. DuckDB reads them.
//   - Peak memory is the kernel's account of the process (getrusage(2)), processor time that of the process and its children.
//   - What cannot be measured here is in the results with the reason.
//   - This process stays small: what it takes would count as the peak of the processes that it starts.
package main
