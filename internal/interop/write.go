package interop

import (
	"errors"
	"fmt"
	"testing"
)

// Writer is another engine that changes a table. Not safe for concurrent use.
type Writer struct{ dialogue *dialogue }

// Writer starts an engine (deltalake; spark where installed) for a table, a folder or a URL that the engine reads. It ends
// with the test.
func (v *Venv) Writer(tb testing.TB, engine, table string) *Writer {
	tb.Helper()
	return &Writer{v.beginFor(tb, "change_table.py", engine, table)}
}

// Change makes one of the changes that change_table.py knows. An error is the engine's reason not to have made it.
func (w *Writer) Change(change string) (Changed, error) {
	var answer struct {
		Changed
		Error string
	}
	err := w.dialogue.ask(change, &answer)
	if err == nil && answer.Error != "" {
		err = errors.New(answer.Error)
	}
	if err != nil {
		return Changed{}, fmt.Errorf("%s: %w", change, err)
	}
	return answer.Changed, nil
}

// Changed is what has come of a change.
type Changed struct {
	Version    int64            // the table's newest after it
	Rows       map[int64]string // by their ids, the texts that the table must have in rows of the engine; where the change was "rows"
	Clustering []string         // columns that the table is clustered by; where it was "clustering"
}
