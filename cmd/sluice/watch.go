package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
)

// watch turns the engine's events into log lines, and on a terminal into one line that shows how far the run is.
type watch struct {
	log     *slog.Logger
	line    *progressLine // nil where stderr is no terminal
	began   time.Time
	batches int64
	rows    int64
	bad     int64
	bytes   int64
	lag     int64
	notes   []source.Lag  // what has a note while the run waits
	badSaid map[int64]int // by batch
	pause   pause
}

func newWatch(log *slog.Logger, stderr io.Writer) *watch {
	w := &watch{log: log, line: newProgressLine(stderr), began: time.Now(), badSaid: map[int64]int{}}
	if w.line != nil {
		w.log = slog.New(&aboveLine{log.Handler(), w.line})
	}
	return w
}

// badPerBatch is how many bad records of a batch are logged one by one; all are counted.
const badPerBatch = 5

func (w *watch) events() batch.Events {
	return batch.Events{
		Notice:    func(text string) { w.log.Warn(text) },
		Recovered: w.recovered,
		Swept:     func(n int) { w.log.Info("cleared up after an earlier run", "objects", n) },
		Planned: func(p offsetlog.Plan, replay bool) {
			w.pause = pause{}
			w.log.Debug("planned", "batch", p.Batch, "ranges", len(p.Ranges), "replay", replay)
		},
		Progress:    w.progress,
		BadRecord:   w.badRecord,
		Lost:        w.lost,
		Quarantined: func(b, n, v int64) { w.log.Info("quarantined", "batch", b, "records", n, "version", v) },
		Committed:   w.committed,
		Empty:       func(b int64) { w.log.Debug("batch has no rows", "batch", b) },
		Lag:         w.showLag,
		Maintained:  w.maintained,
	}
}

func (w *watch) recovered(committed int64, rerun int) {
	if committed < 0 && rerun == 0 {
		w.log.Info("first run")
		return
	}
	w.log.Info("going on", "committed_batch", committed, "rerun", rerun)
}

func (w *watch) badRecord(f batch.Fault) {
	switch w.badSaid[f.Batch]++; {
	case w.badSaid[f.Batch] <= badPerBatch:
		w.log.Warn("bad record", "batch", f.Batch, "where", f.Where, "reason", f.Reason)
	case w.badSaid[f.Batch] == badPerBatch+1:
		w.log.Warn("more bad records; the rest of this batch is only counted", "batch", f.Batch)
	}
}

func (w *watch) lost(ranges []offsetlog.Range) {
	for _, r := range ranges {
		w.log.Warn("the source lost records; passed over", "partition", r.Partition, "from", r.From, "to", r.To)
	}
}

func (w *watch) committed(d batch.Done) {
	delete(w.badSaid, d.Record.Batch)
	w.batches++
	w.rows += d.Record.Rows
	w.bad += d.Record.Bad
	w.bytes += d.Bytes
	attrs := []any{"batch", d.Record.Batch, "version", d.Commit.Version, "rows", d.Record.Rows, "files", d.Commit.Files, "bytes", d.Commit.Bytes, "took", d.Duration.Round(time.Millisecond)}
	if d.Record.Bad > 0 {
		attrs = append(attrs, "bad", d.Record.Bad)
	}
	if d.Replay {
		attrs = append(attrs, "replay", true)
	}
	if len(d.Requests) > 0 {
		attrs = append(attrs, "requests", counts(d.Requests))
	}
	w.log.Info("committed", attrs...)
}

func (w *watch) maintained(d batch.Maintained) {
	if d.Err != nil {
		w.log.Warn("maintenance failed; it is tried again later", "work", d.Work, "table", d.Table, "error", d.Err)
		return
	}
	w.log.Info("maintained", "work", d.Work, "table", d.Table, "version", d.Version, "files", d.Files, "bytes", d.Bytes, "took", d.Took.Round(time.Millisecond))
}

func (w *watch) progress(p batch.Progress) {
	if w.line == nil {
		return
	}
	took := time.Since(w.began).Seconds()
	rows := w.rows + p.Rows
	w.line.show(fmt.Sprintf("batch %d  %s rows  %s  %s rows/s  lag %s", p.Batch, number(rows), size(w.bytes+p.Bytes), number(int64(float64(rows)/max(took, 0.001))), number(w.lag)))
}

func (w *watch) showLag(lag []source.Lag, waiting bool) {
	w.lag, w.notes = 0, w.notes[:0]
	for _, l := range lag {
		w.lag += l.End - l.Position
		if waiting && l.Note != "" {
			w.notes = append(w.notes, l)
		}
	}
	if !waiting {
		return
	}
	if w.line != nil {
		w.line.show(fmt.Sprintf("waiting  %s rows so far  lag %s", number(w.rows), number(w.lag)))
	}
	begins, becomesLong := w.pause.goesOn(time.Now())
	if begins {
		w.log.Debug("waiting for records", "lag", w.lag)
	}
	if becomesLong {
		giveBack()
	}
}

func (w *watch) end() { w.line.clear() }

// summary tells what the run did, and what it could not reach.
func (w *watch) summary() {
	for _, l := range w.notes {
		w.log.Warn(l.Note, "partition", l.Partition)
	}
	w.log.Info("done", "batches", w.batches, "rows", w.rows, "bad", w.bad, "source_bytes", w.bytes, "took", time.Since(w.began).Round(time.Millisecond))
}

// failed says what kind of error ends the run; its text is the last that the program says.
func (w *watch) failed(err error) {
	v := judge(err)
	w.log.Error("failed", "kind", v.Kind, "class", string(v.Class), "exit", exitCode(err), "remedy", v.Remedy)
}

// progressLine is the last line of a terminal, written over again and again, but not too often; nil shows nothing. Safe for
// concurrent use.
type progressLine struct {
	w    io.Writer
	lead string // of each text

	mu    sync.Mutex
	shown int
	last  time.Time
}

// newProgressLine returns one for a terminal, and nil for anything else.
func newProgressLine(w io.Writer) *progressLine {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return &progressLine{w: f}
	}
	return nil
}

func (l *progressLine) show(text string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.last) < 100*time.Millisecond {
		return
	}
	l.last = time.Now()
	text = l.lead + text
	fmt.Fprintf(l.w, "\r%s%s", text, strings.Repeat(" ", max(0, l.shown-len(text))))
	l.shown = len(text)
}

func (l *progressLine) clear() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shown > 0 {
		fmt.Fprintf(l.w, "\r%s\r", strings.Repeat(" ", l.shown))
		l.shown = 0
	}
}
