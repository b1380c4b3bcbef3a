package storagetest

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/sluicedata/sluice/storage"
)

// Transcript records the order of operations, one a line, over all the stores that it wraps.
type Transcript struct {
	mu    sync.Mutex
	lines []string
}

// Wrap returns a view of s whose operations are recorded with name in front of the key.
func (t *Transcript) Wrap(name string, s storage.Store) storage.Store {
	return storage.Wrap(s, func(op *storage.Op, call func() error) error {
		err := call()
		t.mu.Lock()
		defer t.mu.Unlock()
		line := fmt.Sprintf("%-8s %s/%s", op.Name, name, op.Key)
		switch {
		case err != nil:
			line += "  -> error"
		case op.Name == "put":
			line += "  -> " + op.Outcome.String()
		}
		t.lines = append(t.lines, Anonymous(line))
		return err
	})
}

// Note adds a line of the test's own.
func (t *Transcript) Note(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, line)
}

// Take returns the lines so far and begins anew. Runs of the same line are one, since how many writes an object takes
// is nobody's promise.
func (t *Transcript) Take() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	for i, line := range t.lines {
		if i == 0 || line != t.lines[i-1] {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
	t.lines = nil
	return b.String()
}

var uuids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// Anonymous replaces the UUIDs of a text by one word, so that two runs compare equal.
func Anonymous(text string) string { return uuids.ReplaceAllString(text, "UUID") }
