package monitor

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/memory"
	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
	"github.com/sluicedata/sluice/storage/retry"
)

func judge(error) batch.Verdict { return batch.Verdict{Kind: "away", Class: batch.Retrying} }

func newMonitor() *Monitor { return New("p", "v1", time.Now, judge) }

// get returns status and body of an answer.
func get(t *testing.T, m *Monitor, path string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	body, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, string(body)
}

func want(t *testing.T, m *Monitor, path string, status int, text string) {
	t.Helper()
	if got, body := get(t, m, path); got != status || !strings.Contains(body, text) {
		t.Errorf("%s: %d %q, want %d %q", path, got, body, status, text)
	}
}

func TestRunIsReadyFromItsRecoveryOnWhileItWaitsForNothing(t *testing.T) {
	m := newMonitor()
	outages := retry.NewOutages(nil)
	m.Watch(outages, nil)
	want(t, m, "/readyz", http.StatusServiceUnavailable, "starting")
	m.Events().Recovered(-1, 0)
	want(t, m, "/readyz", http.StatusOK, "ok")
	outages.Report("reach it", time.Now().Add(-time.Minute), errors.New("no route"))
	want(t, m, "/readyz", http.StatusServiceUnavailable, "no route")
	want(t, m, "/metrics", http.StatusOK, `sluice_waiting_since_timestamp_seconds{class="retrying",kind="away",pipeline="p"}`)
	outages.Over("reach it")
	want(t, m, "/readyz", http.StatusOK, "ok")
	if _, text := get(t, m, "/metrics"); strings.Contains(text, "sluice_waiting_since") {
		t.Error("it still waits")
	}
}

func TestRunThatDoesNotMoveIsDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMonitor()
		outages := retry.NewOutages(nil)
		m.Watch(outages, nil)
		after := func(d time.Duration, status int, text string) {
			t.Helper()
			time.Sleep(d)
			want(t, m, "/healthz", status, text)
		}
		after(Bound-time.Second, http.StatusOK, "ok")
		after(2*time.Second, http.StatusServiceUnavailable, "the engine has not moved for 5m1s")
		m.Events().Progress(batch.Progress{})
		after(0, http.StatusOK, "ok")
		m.Events().Waits(time.Hour) // for its time to come
		after(time.Hour+Bound, http.StatusOK, "ok")
		after(time.Second, http.StatusServiceUnavailable, "not moved")
		outages.Report("reach it", time.Now(), errors.New("no route")) // it is being tried again
		after(Bound-time.Second, http.StatusOK, "ok")
		after(2*time.Second, http.StatusServiceUnavailable, "not moved")
	})
}

func TestMetricsOfARun(t *testing.T) {
	m := newMonitor()
	e := m.Events()
	ranges := func(to int64) []offsetlog.Range {
		return []offsetlog.Range{{Partition: "orders/0", From: 0, To: to}, {Partition: "dormant/0", From: 3, To: 3}}
	}
	e.Recovered(4, 1)
	e.Swept(2)
	e.Planned(offsetlog.Plan{Batch: 5, Ranges: ranges(10)}, true)
	e.Lag([]source.Lag{{Partition: "orders/0", Position: 10, End: 25}}, false)
	e.Lost([]offsetlog.Range{{Partition: "orders/0", From: 2, To: 6}})
	e.Took(batch.Reading, 20*time.Millisecond)
	e.Committed(batch.Done{
		Record: batch.Record{Batch: 5, Rows: 5, Bad: 1, Tombstones: 2, Ranges: ranges(10)},
		Commit: batch.Commit{Version: 9, Files: 1, Bytes: 100}, Bytes: 70, Duration: 30 * time.Millisecond, Replay: true,
	})
	e.Maintained(batch.Maintained{Work: "checkpoint"})
	e.Maintained(batch.Maintained{Work: "checkpoint", Err: errors.New("no room")})
	e.Planned(offsetlog.Plan{Batch: 6, Ranges: ranges(25)}, false)
	e.Lag([]source.Lag{{Partition: "orders/0", Position: 25, End: 25}}, false)
	e.Empty(6)
	e.Lag([]source.Lag{{Partition: "orders/0", Position: 25, End: 25}}, true)
	budget := memory.New(1000)
	account := budget.Open("write", 100)
	account.Add(50)
	account.Add(-20)
	m.Watch(nil, budget)
	m.Requested("PutObject")
	m.Retried("s3", "throttled")
	_, text := get(t, m, "/metrics")
	var got []string
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "sluice_") && !strings.Contains(line, "_seconds") && !strings.Contains(line, "build_info") {
			got = append(got, strings.NewReplacer(`{pipeline="p"}`, "", `,pipeline="p"`, "", `pipeline="p",`, "").Replace(line))
		}
	}
	if diff := cmp.Diff([]string{
		`sluice_bad_records_total 1`,
		`sluice_batches_total 1`,
		`sluice_committed_batch 5`,
		`sluice_empty_batches_total 1`,
		`sluice_lost_positions_total 4`,
		`sluice_lost_ranges_total 1`,
		`sluice_maintenance_total{outcome="done",work="checkpoint"} 1`,
		`sluice_maintenance_total{outcome="failed",work="checkpoint"} 1`,
		`sluice_memory_budget_bytes 1000`,
		`sluice_memory_held_bytes{account="write"} 30`,
		`sluice_memory_peak_bytes{account="write"} 50`,
		`sluice_partition_applied_position{partition="orders/0"} 10`,
		`sluice_partition_lag{partition="orders/0"} 0`,
		`sluice_partition_planned_position{partition="orders/0"} 25`,
		`sluice_planned_batch 6`,
		`sluice_replayed_batches_total 1`,
		`sluice_retries_total{cause="throttled",service="s3"} 1`,
		`sluice_rows_total 5`,
		`sluice_source_bytes_total 70`,
		`sluice_start_committed_batch 4`,
		`sluice_start_rerun_batches 1`,
		`sluice_start_swept_objects 2`,
		`sluice_storage_requests_total{operation="PutObject"} 1`,
		`sluice_table_bytes_total 100`,
		`sluice_table_files_total 1`,
		`sluice_table_version 9`,
		`sluice_tombstones_total 2`,
	}, got); diff != "" {
		t.Error(diff)
	}
	for _, count := range []string{`sluice_phase_duration_seconds_count{phase="read",pipeline="p"} 1`, `sluice_batch_duration_seconds_count{pipeline="p"} 1`} {
		if !strings.Contains(text, count) {
			t.Errorf("no %s", count)
		}
	}
}

func TestPositionIsAppliedWhenTheRunWaitsWithNothingInFlight(t *testing.T) {
	m := newMonitor()
	m.Events().Recovered(4, 0)
	m.Events().Lag([]source.Lag{{Partition: "orders/0", Position: 25, End: 25}}, true)
	want(t, m, "/metrics", http.StatusOK, `sluice_partition_applied_position{partition="orders/0",pipeline="p"} 25`)
}

// TestDocumentedMetricsAreThoseOfARun compares names and labels with the table in docs/operating.md.
func TestDocumentedMetricsAreThoseOfARun(t *testing.T) {
	text, err := os.ReadFile("../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(sluice_[a-z_]+)` \\| [a-z]+ \\| ?([^|]*?) ?\\|").FindAllSubmatch(text, -1) {
		documented = append(documented, string(row[1])+" "+strings.ReplaceAll(strings.ReplaceAll(string(row[2]), "`", ""), " ", ""))
	}
	descriptions := make(chan *prometheus.Desc)
	go func() {
		newMonitor().metrics.registry.Describe(descriptions)
		close(descriptions)
	}()
	var exposed []string
	for d := range descriptions {
		name := regexp.MustCompile(`fqName: "(sluice_[a-z_]+)".*constLabels: \{pipeline="p"\}, variableLabels: \{([a-z,]*)\}`).FindStringSubmatch(d.String())
		if name != nil {
			exposed = append(exposed, name[1]+" "+name[2])
		}
	}
	slices.Sort(documented)
	slices.Sort(exposed)
	if diff := cmp.Diff(exposed, documented); diff != "" || len(exposed) == 0 {
		t.Errorf("docs/operating.md: %s", diff)
	}
}

func TestPortInUseIsSaid(t *testing.T) {
	at, stop, err := newMonitor().Serve(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Get("http://" + at + "/healthz")
	if err != nil || answer.StatusCode != http.StatusOK || answer.Body.Close() != nil {
		t.Errorf("%v, %v", answer, err)
	}
	if _, _, err := newMonitor().Serve(t.Context(), at); err == nil || !strings.Contains(err.Error(), "listen on "+at+": bind: address already in use; take another port") {
		t.Errorf("the port twice: %v", err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if _, err := http.Get("http://" + at + "/healthz"); err == nil {
		t.Error("it answers after its end")
	}
}
