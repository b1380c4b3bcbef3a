// Package monitor shows a run to machines: whether it lives (/healthz), whether it works (/readyz), and how much
// (/metrics, for Prometheus).
//
// It is a listener of the engine's events, as the log is, and of what the stores and the source tell beside them. It
// decides nothing. docs/operating.md lists every metric; a test holds the list to the code.
//
// Invariants:
//
//   - The labels' values are bounded: partitions of topics, never files; kinds of errors, causes, operations.
//   - Answering never waits for the engine, nor the engine for an answer.
package monitor

import (
	"fmt"
	"sync"
	"time"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/memory"
	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
	"github.com/sluicedata/sluice/storage/retry"
)

// Bound is how long the engine may go without a sign of life: an event, the end of a pause, or a failed try at what it
// waits for.
const Bound = 5 * time.Minute

// Monitor is the state of one run as its events tell it. Safe for concurrent use.
type Monitor struct {
	metrics *metrics
	now     func() time.Time

	mu        sync.Mutex
	outages   *retry.Outages // nil before Watch
	budget    *memory.Budget // the same
	due       time.Time      // when the next sign of life has to come
	recovered bool
	planned   int64 // newest batch that was planned, -1: none
	committed int64 // newest batch in the table, -1: none
}

// New makes the monitor of a run that has not begun. now is the clock, judge says what an error means.
func New(pipeline, version string, now func() time.Time, judge func(error) batch.Verdict) *Monitor {
	m := &Monitor{metrics: newMetrics(pipeline, version), now: now, due: now().Add(Bound), planned: -1, committed: -1}
	m.metrics.registry.MustRegister(&live{m, judge})
	return m
}

// Watch has the monitor look at what is being waited for, and at what is held.
func (m *Monitor) Watch(outages *retry.Outages, budget *memory.Budget) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.outages, m.budget = outages, budget
}

// Requested counts a request to S3.
func (m *Monitor) Requested(operation string) { m.metrics.requests.WithLabelValues(operation).Inc() }

// Retried counts a failure after which something is tried again.
func (m *Monitor) Retried(service, cause string) {
	m.metrics.retries.WithLabelValues(service, cause).Inc()
}

// Events are what the engine is to tell.
func (m *Monitor) Events() batch.Events {
	c := m.metrics
	return batch.Events{
		Notice:     func(string) { m.moved(0) },
		Recovered:  m.start,
		Swept:      func(n int) { c.swept.Set(float64(n)); m.moved(0) },
		Planned:    m.plan,
		Progress:   func(batch.Progress) { m.moved(0) },
		Lost:       func(ranges []offsetlog.Range) { c.lost(ranges); m.moved(0) },
		Committed:  m.commit,
		Empty:      func(int64) { c.empty.Inc(); m.moved(0) },
		Lag:        m.lag,
		Took:       func(phase batch.Phase, d time.Duration) { c.took.WithLabelValues(string(phase)).Observe(d.Seconds()) },
		Maintained: func(d batch.Maintained) { c.maintained(d); m.moved(0) },
		Waits:      m.moved,
	}
}

// moved is a sign of life. The next one is due when the pause is over.
func (m *Monitor) moved(pause time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.due = m.now().Add(pause + Bound)
}

func (m *Monitor) start(committed int64, rerun int) {
	m.moved(0)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.recovered = true
	m.committed, m.planned = committed, committed+int64(rerun)
	m.metrics.startCommitted.Set(float64(committed))
	m.metrics.startRerun.Set(float64(rerun))
	m.metrics.batches(m.planned, m.committed)
}

func (m *Monitor) plan(p offsetlog.Plan, _ bool) {
	m.moved(0)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.planned = max(m.planned, p.Batch)
	m.metrics.batches(m.planned, m.committed)
}

func (m *Monitor) commit(d batch.Done) {
	m.moved(0)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.committed = d.Record.Batch
	m.metrics.committed(d, m.now())
	m.metrics.batches(m.planned, m.committed)
}

// lag shows the positions. While the run waits with nothing in flight, what is planned is also in the table.
func (m *Monitor) lag(lags []source.Lag, idle bool) {
	m.moved(0)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.metrics.positions(lags, idle && m.planned == m.committed)
}

// dead says why the run is taken for dead, or nothing.
func (m *Monitor) dead() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	due := m.due
	if oldest, waiting := m.outages.Oldest(); waiting && oldest.Tried.Add(Bound).After(due) {
		due = oldest.Tried.Add(Bound)
	}
	if late := m.now().Sub(due); late > 0 {
		return fmt.Sprintf("the engine has not moved for %v", (late + Bound).Round(time.Second))
	}
	return ""
}

// unready says why the run does not work at present, or nothing.
func (m *Monitor) unready() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	oldest, waiting := m.outages.Oldest()
	switch {
	case waiting:
		return fmt.Sprintf("waiting since %s: %v", oldest.Since.UTC().Format(time.RFC3339), oldest.Err)
	case !m.recovered:
		return "starting: the checkpoint and the table are being compared"
	default:
		return ""
	}
}
