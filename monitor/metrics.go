package monitor

import (
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
)

// metrics are all that a run exposes, each with the label pipeline.
type metrics struct {
	registry *prometheus.Registry

	commits, replayed, empty                prometheus.Counter
	rows, bad, tombstones                   prometheus.Counter
	sourceBytes, tableBytes, tableFiles     prometheus.Counter
	lostRanges, lostPositions               prometheus.Counter
	requests, retries, maintenance          *prometheus.CounterVec
	took                                    *prometheus.HistogramVec
	batchTook                               prometheus.Histogram
	plannedBatch, committedBatch, version   prometheus.Gauge
	lastCommit                              prometheus.Gauge
	startCommitted, startRerun, swept       prometheus.Gauge
	plannedPosition, appliedPosition, ahead *prometheus.GaugeVec
	waiting                                 *prometheus.Desc
	memoryBudget, memoryHeld, memoryPeak    *prometheus.Desc
	shown                                   map[string]bool // partitions that have a lag
}

// seconds are the bounds of histograms: from a commit on a local disk to a batch of an hour.
var seconds = []float64{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600}

func newMetrics(pipeline, version string) *metrics {
	m := &metrics{registry: prometheus.NewRegistry(), shown: map[string]bool{}}
	labels := prometheus.Labels{"pipeline": pipeline}
	register := prometheus.WrapRegistererWith(labels, m.registry)
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		register.MustRegister(c)
		return c
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		register.MustRegister(c)
		return c
	}
	gauges := func(name, help string, labels ...string) *prometheus.GaugeVec {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
		register.MustRegister(g)
		return g
	}
	gauge := func(name, help string) prometheus.Gauge { return gauges(name, help).WithLabelValues() }

	m.commits = counter("sluice_batches_total", "Batches that were committed.")
	m.replayed = counter("sluice_replayed_batches_total", "Batches among them that an earlier run had planned.")
	m.empty = counter("sluice_empty_batches_total", "Batches without rows, which make no commit.")
	m.rows = counter("sluice_rows_total", "Rows that were committed.")
	m.bad = counter("sluice_bad_records_total", "Records that were skipped or quarantined.")
	m.tombstones = counter("sluice_tombstones_total", "Kafka records without a value that were left out.")
	m.sourceBytes = counter("sluice_source_bytes_total", "Bytes of the source behind the committed batches.")
	m.tableBytes = counter("sluice_table_bytes_total", "Bytes of the data files that were committed.")
	m.tableFiles = counter("sluice_table_files_total", "Data files that were committed.")
	m.lostRanges = counter("sluice_lost_ranges_total", "Gaps: ranges that the source had lost, and that were passed over.")
	m.lostPositions = counter("sluice_lost_positions_total", "Positions in those gaps.")
	m.requests = counters("sluice_storage_requests_total", "Requests to S3, each try of each.", "operation")
	m.retries = counters("sluice_retries_total", "Failures after which something was tried again.", "service", "cause")
	m.maintenance = counters("sluice_maintenance_total", "Maintenance of the tables beside the run.", "work", "outcome")
	m.took = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "sluice_phase_duration_seconds", Help: "How long plan, read and commit of a batch took.", Buckets: seconds}, []string{"phase"})
	m.batchTook = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "sluice_batch_duration_seconds", Help: "How long batches took from the plan on.", Buckets: seconds})
	m.plannedBatch = gauge("sluice_planned_batch", "Newest batch that was planned; -1: none.")
	m.committedBatch = gauge("sluice_committed_batch", "Newest batch in the table; -1: none.")
	m.version = gauge("sluice_table_version", "Version of the table that this run committed last.")
	m.lastCommit = gauge("sluice_last_commit_timestamp_seconds", "When this run committed last.")
	m.startCommitted = gauge("sluice_start_committed_batch", "Newest batch in the table at the start; -1: none.")
	m.startRerun = gauge("sluice_start_rerun_batches", "Batches that the start found planned and not committed.")
	m.swept = gauge("sluice_start_swept_objects", "Leftovers of dead runs that the start removed.")
	m.plannedPosition = gauges("sluice_partition_planned_position", "End of the newest plan.", "partition")
	m.appliedPosition = gauges("sluice_partition_applied_position", "Position up to which the table has all.", "partition")
	m.ahead = gauges("sluice_partition_lag", "How far the partition's end is ahead of the newest plan.", "partition")
	live := func(name, help string, variable ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, variable, labels)
	}
	m.waiting = live("sluice_waiting_since_timestamp_seconds", "Since when the run waits for something; absent while it does not.", "kind", "class")
	m.memoryBudget = live("sluice_memory_budget_bytes", "What the run may hold of data.")
	m.memoryHeld = live("sluice_memory_held_bytes", "What it holds, by account of the budget.", "account")
	m.memoryPeak = live("sluice_memory_peak_bytes", "Most that it has held, by account of the budget.", "account")
	gauges("sluice_build_info", "1, with the version of the program.", "version", "goversion").WithLabelValues(version, runtime.Version()).Set(1)
	register.MustRegister(m.took, m.batchTook)
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) batches(planned, committed int64) {
	m.plannedBatch.Set(float64(planned))
	m.committedBatch.Set(float64(committed))
}

func (m *metrics) lost(ranges []offsetlog.Range) {
	for _, r := range ranges {
		m.lostRanges.Inc()
		m.lostPositions.Add(float64(r.To - r.From))
	}
}

func (m *metrics) maintained(d batch.Maintained) {
	outcome := "done"
	if d.Err != nil {
		outcome = "failed"
	}
	m.maintenance.WithLabelValues(d.Work, outcome).Inc()
}

func (m *metrics) committed(d batch.Done, now time.Time) {
	m.commits.Inc()
	if d.Replay {
		m.replayed.Inc()
	}
	m.rows.Add(float64(d.Record.Rows))
	m.bad.Add(float64(d.Record.Bad))
	m.tombstones.Add(float64(d.Record.Tombstones))
	m.sourceBytes.Add(float64(d.Bytes))
	m.tableBytes.Add(float64(d.Commit.Bytes))
	m.tableFiles.Add(float64(d.Commit.Files))
	m.batchTook.Observe(d.Duration.Seconds())
	m.version.Set(float64(d.Commit.Version))
	m.lastCommit.Set(float64(now.UnixMilli()) / 1000)
	for _, r := range d.Record.Ranges {
		if m.shown[r.Partition] { // a file has no position of its own
			m.appliedPosition.WithLabelValues(r.Partition).Set(float64(r.To))
		}
	}
}

// positions shows what the source tells of itself; applied says that all of it is in the table.
func (m *metrics) positions(lags []source.Lag, applied bool) {
	for _, l := range lags {
		m.shown[l.Partition] = true
		m.plannedPosition.WithLabelValues(l.Partition).Set(float64(l.Position))
		m.ahead.WithLabelValues(l.Partition).Set(float64(l.End - l.Position))
		if applied {
			m.appliedPosition.WithLabelValues(l.Partition).Set(float64(l.Position))
		}
	}
}

// live collects what is looked up when it is asked: what is waited for, and what is held.
type live struct {
	monitor *Monitor
	judge   func(error) batch.Verdict
}

func (l *live) Describe(to chan<- *prometheus.Desc) {
	c := l.monitor.metrics
	for _, d := range []*prometheus.Desc{c.waiting, c.memoryBudget, c.memoryHeld, c.memoryPeak} {
		to <- d
	}
}

func (l *live) Collect(to chan<- prometheus.Metric) {
	l.monitor.mu.Lock()
	outages, budget := l.monitor.outages, l.monitor.budget
	l.monitor.mu.Unlock()
	c := l.monitor.metrics
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	if oldest, open := outages.Oldest(); open {
		v := l.judge(oldest.Err)
		gauge(c.waiting, float64(oldest.Since.UnixMilli())/1000, v.Kind, string(v.Class))
	}
	if budget == nil {
		return
	}
	gauge(c.memoryBudget, float64(budget.Total()))
	for _, use := range budget.Use() {
		gauge(c.memoryHeld, float64(use.Held), use.Account)
		gauge(c.memoryPeak, float64(use.Peak), use.Account)
	}
}
