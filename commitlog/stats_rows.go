package commitlog

import (
	"context"
	"encoding/json"
	"strings"
)

// Rows is the number of rows that the files have, without the deleted ones, by numRecords of their statistics; -1 where one of the files does
// not tell. Of a log checkpoint that has statistics in a struct that leaf alone is read, and of those in JSON no text is kept. Errors are
// those of All.
func (f *Files) Rows(ctx context.Context) (int64, error) {
	stats := f.statsReader(true)
	defer stats.close()
	total := int64(0)
	for id := range f.rows.n {
		if f.rows.at(id).dead {
			continue
		}
		text, err := stats.at(ctx, id)
		if err != nil {
			return 0, err
		}
		rows := RowsOf(text, f.extras[id].dv)
		if rows < 0 {
			return -1, nil
		}
		total += rows
	}
	return total, nil
}

// RowsOf is the number of rows of a data file that have not been deleted, by numRecords of its statistics ("Per-file Statistics"); -1 when these do
// not tell. Writers put it first: then the rest is not looked at, since tables have millions of files.
func RowsOf[T string | []byte](stats T, deleted *DeletionVector) int64 {
	rows, first := leadingRows(stats)
	if !first {
		rows = memberRows(string(stats))
	}
	if rows >= 0 && deleted != nil {
		return rows - deleted.Cardinality
	}
	return rows
}

// leadingRows reads a numRecords that stands in front of all else, without spaces.
func leadingRows[T string | []byte](stats T) (rows int64, ok bool) {
	const name, digits = `{"numRecords":`, 18 // so many fit into 64 bits
	if len(stats) < len(name) || string(stats[:len(name)]) != name {
		return 0, false
	}
	rest := stats[len(name):]
	for i := range min(len(rest), digits+1) {
		c := rest[i]
		if c == ',' || c == '}' {
			return rows, i > 0
		}
		if c < '0' || c > '9' {
			return 0, false
		}
		rows = 10*rows + int64(c-'0')
	}
	return 0, false
}

// memberRows reads it wherever it stands; -1 for none, and for none that can be read.
func memberRows(stats string) int64 {
	var wire struct {
		NumRecords *int64 `json:"numRecords"`
	}
	if json.NewDecoder(strings.NewReader(stats)).Decode(&wire) != nil || wire.NumRecords == nil || *wire.NumRecords < 0 {
		return -1
	}
	return *wire.NumRecords
}
