package batch

import (
	"fmt"

	"github.com/sluicedata/sluice/offsetlog"
)

// CommitView is what an audit sees of one version of a table.
type CommitView struct {
	Version int64
	// Batch is the version of the commit's txn action for the audited pipeline; HasBatch says whether it has one.
	Batch        int64
	HasBatch     bool
	UserMetadata string
	Added        []AddedFile // data files that the commit adds as new data
	Removed      []string    // paths of data files that it takes away, for whatever reason
}

// AddedFile is a data file as its commit describes it.
type AddedFile struct {
	Path string
	Rows int64 // -1: not told
}

// AuditReport is what an Audit found.
type AuditReport struct {
	Pipeline   string              `json:"pipeline"`
	From       int64               `json:"from_version"` // the first that the log still has; -1: none
	Versions   int64               `json:"versions"`     // commits seen
	Commits    int64               `json:"commits"`      // of this pipeline
	FirstBatch int64               `json:"first_batch"`
	LastBatch  int64               `json:"last_batch"`
	Rows       int64               `json:"rows"`
	Bad        int64               `json:"bad_records"`
	Lost       int64               `json:"lost_positions"`
	Partitions []AuditPartition    `json:"partitions"`
	Faults     []AuditFault        `json:"faults"`
	positions  map[incarnation]int // into Partitions
	files      map[string]int64    // path of a file that is there → version that added it
}

// AuditPartition is what the table covers of one partition of the source.
type AuditPartition struct {
	Partition string `json:"partition"`
	ID        string `json:"id,omitempty"`
	From      int64  `json:"from"`
	To        int64  `json:"to"`
}

// AuditFault is a place where the table's log contradicts "every range was committed once".
type AuditFault struct {
	Version int64  `json:"version"`
	Batch   int64  `json:"batch"`
	Problem string `json:"problem"`
}

type incarnation struct{ partition, id string }

// NewAudit begins the audit of a pipeline over a table's commits, which are shown to it in order of version.
func NewAudit(pipeline string) *AuditReport {
	return &AuditReport{
		Pipeline: pipeline, From: -1, FirstBatch: -1, LastBatch: -1, Partitions: []AuditPartition{}, Faults: []AuditFault{},
		positions: map[incarnation]int{}, files: map[string]int64{},
	}
}

// Commit checks one version: that no file is added that is there already (one that was removed may come back, by a restore); and,
// if it is the pipeline's, that its batches follow the last one's, that each range begins where the last one of its partition
// ended, and that the files hold the rows that the record counts.
func (a *AuditReport) Commit(v CommitView) {
	if a.Versions == 0 {
		a.From = v.Version
	}
	a.Versions++
	for _, path := range v.Removed {
		delete(a.files, path)
	}
	for _, f := range v.Added {
		if earlier, twice := a.files[f.Path]; twice {
			a.fault(v, v.Batch, "file %s was added by version %d already", f.Path, earlier)
		}
		a.files[f.Path] = v.Version
	}
	record := ParseRecord(v.UserMetadata)
	if record != nil && record.App != a.Pipeline {
		record = nil
	}
	switch {
	case !v.HasBatch && record == nil:
		return
	case !v.HasBatch:
		a.fault(v, record.Batch, "the commit has a record of batch %d but no txn action for it", record.Batch)
	case record == nil:
		a.fault(v, v.Batch, "the commit has a txn action for batch %d but no record of its ranges: another program wrote it", v.Batch)
		a.LastBatch = v.Batch
		return
	case record.Batch != v.Batch:
		a.fault(v, v.Batch, "the commit's txn action says batch %d, its record batch %d", v.Batch, record.Batch)
	}
	a.batch(v, record)
	for _, r := range record.Ranges {
		a.rangeOf(v, record, r)
	}
	a.rows(v, record)
}

func (a *AuditReport) batch(v CommitView, record *Record) {
	if a.FirstBatch < 0 {
		a.FirstBatch = record.Since
	} else if record.Since != a.LastBatch+1 {
		a.fault(v, record.Batch, "the commit covers batches %d to %d, the one before ended with batch %d", record.Since, record.Batch, a.LastBatch)
	}
	a.LastBatch = record.Batch
	a.Commits++
	a.Rows += record.Rows
	a.Bad += record.Bad
	for _, r := range record.Lost {
		a.Lost += r.Len()
	}
}

func (a *AuditReport) rangeOf(v CommitView, record *Record, r offsetlog.Range) {
	key := incarnation{r.Partition, r.ID}
	i, known := a.positions[key]
	if !known {
		a.positions[key] = len(a.Partitions)
		a.Partitions = append(a.Partitions, AuditPartition{r.Partition, r.ID, r.From, r.To})
		return
	}
	p := &a.Partitions[i]
	switch {
	case r.From < p.To:
		a.fault(v, record.Batch, "%s was committed twice from %d to %d", r.Partition, r.From, min(r.To, p.To))
	case r.From > p.To:
		a.fault(v, record.Batch, "%s from %d to %d was never committed", r.Partition, p.To, r.From)
	}
	p.To = max(p.To, r.To)
}

func (a *AuditReport) rows(v CommitView, record *Record) {
	rows := int64(0)
	for _, f := range v.Added {
		if f.Rows < 0 {
			return // its writer did not tell
		}
		rows += f.Rows
	}
	if rows != record.Rows {
		a.fault(v, record.Batch, "the record counts %d rows, the files hold %d", record.Rows, rows)
	}
}

func (a *AuditReport) fault(v CommitView, batch int64, problem string, args ...any) {
	a.Faults = append(a.Faults, AuditFault{v.Version, batch, fmt.Sprintf(problem, args...)})
}

// AuditError is an audit that found faults; its text names the first.
type AuditError struct{ Report *AuditReport }

func (e *AuditError) Error() string {
	f := e.Report.Faults[0]
	return fmt.Sprintf("audit of pipeline %q: version %d, batch %d: %s (%d faults in all)", e.Report.Pipeline, f.Version, f.Batch, f.Problem, len(e.Report.Faults))
}

// Err is nil for a table without faults.
func (a *AuditReport) Err() error {
	if len(a.Faults) == 0 {
		return nil
	}
	return &AuditError{a}
}
