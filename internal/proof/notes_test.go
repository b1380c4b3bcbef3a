package proof

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/internal/interop/rowhash"
	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/retry"
	"github.com/sluicedata/sluice/storage/s3"
)

// note is the record of these tests. All of it follows from its id.
type note struct {
	ID   int64
	Part *string
	Text string
}

// parts are values that are hard on a partition's folder.
var parts = []string{"plain", "a/b", "with space", "100%", "é😀", "..", "x=y", "__HIVE_DEFAULT_PARTITION__", "line\nfeed", `q"u'o`}

func noteOf(id int64) note {
	n := note{ID: id, Text: fmt.Sprintf("note %d\t\u2028%x", id, id*7919)}
	if i := int(id*31) % (len(parts) + 1); i < len(parts) {
		n.Part = &parts[i]
	}
	return n
}

func (n note) appendJSON(b []byte) []byte {
	text, _ := json.Marshal(map[string]any{"id": n.ID, "part": n.Part, "text": n.Text}) // such a map always marshals
	return append(b, text...)
}

// lose tells that the source has lost the notes [from, to) before they could be read.
func (p *producer) lose(from, to int64) {
	if p.gone == nil {
		p.gone = map[int64]bool{}
	}
	for id := from; id < to; id++ {
		p.gone[id] = true
	}
}

// rows are the ids that have to be in the table.
func (p *producer) rows() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for id := range p.notes {
			if !p.gone[id] && !yield(id) {
				return
			}
		}
	}
}

// count is how many rows have to be in the table.
func (p *producer) count() int64 { return p.notes - int64(len(p.gone)) }

// hash is that of the rows that have to be in the table.
func (p *producer) hash() string {
	var sum rowhash.Sum
	var row []byte
	for id := range p.rows() {
		row = append(rowhash.AppendInt(row[:0], id), rowhash.Separator)
		if part := noteOf(id).Part; part != nil {
			row = rowhash.AppendString(row, *part)
		} else {
			row = rowhash.AppendNull(row)
		}
		row = rowhash.AppendString(append(row, rowhash.Separator), noteOf(id).Text)
		sum.Add(row)
	}
	return sum.Hash()
}

// badNote is a record that no pipeline takes.
func badNote(i int64) string { return fmt.Sprintf(`{"id":"bad %d"}`, i) }

// producer makes notes 0, 1, 2, … and bad ones among them, and remembers how many.
type producer struct {
	notes, bad int64
	badEvery   int64 // a bad record after every so many notes; 0: none
	files      int64
	stores     map[string]storage.Store // of landing folders in S3
	gone       map[int64]bool           // notes that the source lost before they could be read
}

func (p *producer) next(records int) [][]byte {
	var values [][]byte
	for range records {
		values = append(values, noteOf(p.notes).appendJSON(nil))
		p.notes++
		if p.badEvery > 0 && p.notes%p.badEvery == 0 {
			values = append(values, []byte(badNote(p.bad)))
			p.bad++
		}
	}
	return values
}

// land puts one file of new notes into a landing folder, and returns when it is there.
func (p *producer) land(place string, records int) error {
	p.files++
	name := fmt.Sprintf("%06d.ndjson", p.files)
	text := append(bytes.Join(p.next(records), []byte("\n")), '\n')
	if isRemote(place) {
		return p.upload(place, name, text)
	}
	name = filepath.Join(place, name)
	temporary := name + ".tmp"
	if err := os.WriteFile(temporary, text, 0o666); err != nil {
		return err
	}
	return os.Rename(temporary, name)
}

// upload puts an object as often as it takes, though not for ever.
func (p *producer) upload(place, name string, text []byte) error {
	store := p.stores[place]
	if store == nil {
		var err error
		if store, err = pipeline.OpenStore(place, "proof"); err != nil {
			return err
		}
		if p.stores == nil {
			p.stores = map[string]storage.Store{}
		}
		p.stores[place] = store
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		_, err := store.PutIfAbsent(ctx, name, text) // one that is there is this one
		if err == nil || ctx.Err() != nil || s3.Classify(err) == retry.Final {
			return err
		}
	}
}

// send produces new notes to a topic's partitions, and returns when the broker has them.
func (p *producer) send(client *kgo.Client, topic string, partitions int32, records int) error {
	var batch []*kgo.Record
	for i, value := range p.next(records) {
		batch = append(batch, &kgo.Record{Topic: topic, Partition: int32(i) % partitions, Value: value})
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return client.ProduceSync(ctx, batch...).FirstErr()
}

// work goes on in the background.
type work struct {
	stopping chan struct{}
	stopped  chan struct{}
	steps    atomic.Int64
	err      error
}

// repeat does step every so often until it is stopped, at the latest at the end of the test.
func repeat(tb testing.TB, every time.Duration, step func() error) *work {
	w := &work{stopping: make(chan struct{}), stopped: make(chan struct{})}
	go func() {
		defer close(w.stopped)
		ticks := time.NewTicker(every)
		defer ticks.Stop()
		for {
			if w.err = step(); w.err != nil {
				return
			}
			w.steps.Add(1)
			select {
			case <-ticks.C:
			case <-w.stopping:
				return
			}
		}
	}()
	tb.Cleanup(func() { w.stop(tb) })
	return w
}

func (w *work) stop(tb testing.TB) {
	select {
	case <-w.stopping:
	default:
		close(w.stopping)
	}
	<-w.stopped
	if w.err != nil {
		tb.Fatal(w.err)
	}
}
