package parquetfile

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// sparse is a column that few rows have, as most of those of a log checkpoint are.
type sparse struct {
	Text *string `parquet:"text,optional"`
}

func TestPagesPassedOverTakeNoMemoryOfTheirOwn(t *testing.T) {
	rows := make([]sparse, 1<<18)
	rows[len(rows)-1].Text = new("last")
	var b bytes.Buffer
	if err := parquet.Write(&b, rows, parquet.PageBufferSize(4<<10)); err != nil {
		t.Fatal(err)
	}
	file, err := Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	c := file.Cursor(0, 0)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	row, err := c.SkipPages(func(page parquet.Page) bool { return page.NumNulls() == page.NumValues() })
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if row < int64(len(rows))*9/10 {
		t.Fatalf("%d rows of %d are passed over", row, len(rows))
	}
	// With the race detector the pool forgets one page in four.
	if n := after.TotalAlloc - before.TotalAlloc; n > 10*uint64(row) {
		t.Errorf("%d bytes of memory for pages of %d rows", n, row)
	}
	for ; ; row++ {
		if ok, err := c.Peek(); err != nil || !ok {
			t.Fatalf("row %d: %v, %v", row, ok, err)
		}
		if v := c.Next(); !v.IsNull() {
			if row != int64(len(rows)-1) || v.String() != "last" {
				t.Errorf("row %d is %v", row, v)
			}
			break
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
