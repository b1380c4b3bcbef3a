package table

import "testing"

// TestAppendingAllocatesNothingPerRow counts what a record of rows costs once the buffers have grown: columns and pages, and not rows.
func TestAppendingAllocatesNothingPerRow(t *testing.T) {
	const rows = 16_384
	s, rec := eventRecord(t, rows)
	a, err := newTestTable(t, Options{}).Begin(t.Context(), &Create{Schema: s})
	if err != nil {
		t.Fatal(err)
	}
	write := func() {
		if err := a.Write(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
	}
	write()
	if per := testing.AllocsPerRun(10, write); per > rows/16 {
		t.Errorf("%v allocations for %d rows", per, rows)
	}
	if _, err := a.Commit(t.Context(), Batch{}); err != nil {
		t.Fatal(err)
	}
}
