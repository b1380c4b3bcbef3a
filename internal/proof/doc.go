// Package proof holds the tests that run the real program as a user's machine would: a process of its own, killed,
// stopped, doubled, led astray, and given millions of records.
//
// It owns no code outside of tests. A site is one pipeline with its landing folder or topic, its table and its
// checkpoint, each on the local disk or in S3; a process is a run of the program at a site; a producer makes records that
// it remembers. What is proven is always the same, by site.check: each record that was produced is in the table once, also
// in the eyes of foreign readers, the audit finds no fault, and nothing is left that no version of the table refers to.
//
// Invariants:
//
//   - What a table must hold is computed from what was produced, never from what Sluice read.
//   - No test waits for time to pass: it waits for a line of the program's log, for a process to end, or for a file.
//   - Random choices come from a seed that is printed, and that SLUICE_PROOF_SEED sets.
package proof
