package interop

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/sluicedata/sluice/table"
)

// Scanned is the content of a snapshot as Sluice's own scan sees it: what a test holds the foreign readers' answers against. With
// columns given only they count.
func Scanned(tb testing.TB, s *table.Snapshot, columns ...string) Content {
	tb.Helper()
	var records []arrow.Record
	err := s.Scan(tb.Context(), table.ScanOptions{}, func(rows arrow.Record) error {
		rows.Retain()
		records = append(records, rows)
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	content, err := ContentOf(s.Schema().ArrowSchema(), records, columns...)
	if err != nil {
		tb.Fatal(err)
	}
	return content
}
