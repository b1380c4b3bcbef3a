package proof

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/internal/interop"
	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/table"
)

// judge collects tables for the foreign readers, which take longer to start than to read.
type judge struct {
	folder string // of the sites
	s3     *cloud // nil when all sites are local
	mu     sync.Mutex
	tables []interop.Table
}

// newJudge is for the sites of one test, which have to stay until all is judged.
func newJudge(t *testing.T) *judge { return &judge{folder: t.TempDir()} }

func (j *judge) add(tables ...interop.Table) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, t := range tables {
		if isRemote(t.Path) {
			t.Disk = j.disk(t.Path)
		}
		j.tables = append(j.tables, t)
	}
}

// judge asks the foreign readers about all tables.
func (j *judge) judge(t *testing.T) {
	t.Helper()
	interop.Check(t, j.tables...)
}

// check proves that a site's table holds the producer's notes, each once, in everybody's eyes.
func (s *site) check(t *testing.T, p *producer) {
	t.Helper()
	s.checkRows(t, p, false)
	s.checkDisk(t)
}

// checkRows is check for a table in whose log somebody has meddled: its folder holds files of commits that were taken
// away, and with tampered set the audit has to find a fault.
func (s *site) checkRows(t *testing.T, p *producer, tampered bool) {
	t.Helper()
	if tampered {
		run(t, exitCorrupt, "audit", s.file)
	} else {
		s.checkAudit(t, p.count())
	}
	s.checkNotes(t, p)
}

// checkNotes looks at the rows alone.
func (s *site) checkNotes(t *testing.T, p *producer) {
	t.Helper()
	s.checkIDs(t, p, math.MinInt64)
	last := newest(t, s.table)
	foreign := []interop.Table{{
		Path: s.table, Columns: []string{"id", "part", "text"},
		Versions: map[int64]interop.Content{last: {Rows: p.count(), Hash: p.hash()}},
	}}
	if p.bad > 0 {
		s.checkQuarantined(t, p.bad)
		last := newest(t, s.quarantine())
		foreign = append(foreign, versions(t, s.quarantine(), 0, last/2, last))
	}
	s.judge.add(append(foreign, versions(t, s.table, 0, last/2))...)
}

// checkIDs wants each note's id once, and no other from the least on.
func (s *site) checkIDs(t *testing.T, p *producer, least int64) {
	t.Helper()
	counts := map[string]int{}
	scan(t, s.table, []string{"id"}, func(rows arrow.Record) {
		for _, id := range rows.Column(0).(*array.Int64).Int64Values() {
			if id >= least {
				counts[fmt.Sprint(id)]++
			}
		}
	})
	want := map[string]int{}
	for id := range p.rows() {
		want[fmt.Sprint(id)] = 1
	}
	diff(t, "notes", counts, want)
}

func (s *site) checkQuarantined(t *testing.T, bad int64) {
	t.Helper()
	counts, want := map[string]int{}, map[string]int{}
	scan(t, s.quarantine(), []string{"value"}, func(rows arrow.Record) {
		for i := range int(rows.NumRows()) {
			counts[string(rows.Column(0).(*array.Binary).Value(i))]++
		}
	})
	for i := range bad {
		want[badNote(i)] = 1
	}
	diff(t, "bad records", counts, want)
}

// diff reports what is not there as often as it should be.
func diff(t *testing.T, what string, got, want map[string]int) {
	t.Helper()
	wrong := 0
	for key, n := range want {
		if got[key] != n {
			if wrong++; wrong <= 10 {
				t.Errorf("%s: %s is there %d times, want %d", what, key, got[key], n)
			}
		}
	}
	for key, n := range got {
		if want[key] == 0 {
			if wrong++; wrong <= 10 {
				t.Errorf("%s: %s is there %d times, and was never produced", what, key, n)
			}
		}
	}
	if wrong > 10 {
		t.Errorf("%s: %d are wrong in all", what, wrong)
	}
}

// checkAudit wants the program's own audit to pass and to count the rows.
func (s *site) checkAudit(t *testing.T, rows int64) {
	t.Helper()
	var report batch.AuditReport
	out := run(t, 0, "audit", s.file, "-o", "json").stdout.Bytes()
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatalf("audit: %v\n%s", err, out)
	}
	if report.Rows != rows || len(report.Faults) > 0 {
		t.Errorf("audit: %d rows and faults %v, want %d rows and none", report.Rows, report.Faults, rows)
	}
}

// status is what the program says of the pipeline.
func (s *site) status(t *testing.T) batch.Status {
	t.Helper()
	var status batch.Status
	out := run(t, 0, "status", s.file, "-o", "json").stdout.Bytes()
	if err := json.Unmarshal(out, &status); err != nil {
		t.Fatalf("status: %v\n%s", err, out)
	}
	return status
}

func open(t *testing.T, path string) *table.Table {
	t.Helper()
	store, err := pipeline.OpenStore(path, "proof")
	if err != nil {
		t.Fatal(err)
	}
	return table.New(store, table.Options{})
}

func snapshot(t *testing.T, path string, version int64) *table.Snapshot {
	t.Helper()
	s, err := open(t, path).Snapshot(t.Context(), version)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newest(t *testing.T, path string) int64 {
	t.Helper()
	return snapshot(t, path, table.Newest).Version()
}

func scan(t *testing.T, path string, columns []string, fn func(arrow.Record)) {
	t.Helper()
	err := snapshot(t, path, table.Newest).Scan(t.Context(), table.ScanOptions{Columns: columns}, func(rows arrow.Record) error {
		fn(rows)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// versions asks for versions of a table as our own scan sees them.
func versions(t *testing.T, path string, wanted ...int64) interop.Table {
	t.Helper()
	asked := interop.Table{Path: path, Versions: map[int64]interop.Content{}}
	for _, version := range wanted {
		asked.Versions[version] = interop.Scanned(t, snapshot(t, path, version))
	}
	return asked
}

// checkDisk wants every file of the site's tables to be referred to by a version, or to be the log's or a checkpoint's. In
// S3 a killed run may leave data files that it had published and not committed, and the scratch object of its probe. What
// delta-rs leaves when its commit is refused is its own affair.
func (s *site) checkDisk(t *testing.T) {
	t.Helper()
	for _, path := range []string{s.table, s.quarantine()} {
		known := s.referred(t, path)
		if known == nil {
			continue // there is no such table
		}
		var strays []string
		for key := range relative(t, s.judge.disk(path)) {
			switch {
			case strings.Contains(key, "_staging/"):
				strays = append(strays, key)
			case strings.HasPrefix(key, "_delta_log/"), strings.HasPrefix(key, "_sluice/"):
			case known[key]:
				delete(known, key)
			case isRemote(path) && (strings.HasSuffix(key, ".parquet") || strings.HasPrefix(key, "_probe/")):
			case strings.Contains(key, "-c000."): // as delta-rs names its files; ours have ".c000."
			default:
				strays = append(strays, key)
			}
		}
		if len(strays) > 0 {
			t.Errorf("%s: files that no version refers to: %v", path, strays)
		}
		if len(known) > 0 {
			t.Errorf("%s: files that a version refers to are gone: %v", path, slices.Sorted(maps.Keys(known)))
		}
	}
}

// referred are the keys of the files that any version of a table refers to; nil when there is no table.
func (s *site) referred(t *testing.T, path string) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	err := open(t, path).History(t.Context(), func(c *commitlog.Commit) error {
		for i := range c.Adds {
			key, err := url.PathUnescape(c.Adds[i].Path)
			if err != nil {
				return err
			}
			known[key] = true
		}
		return nil
	})
	if errors.Is(err, commitlog.ErrNoTable) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return known
}
