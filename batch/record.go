package batch

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/sluicedata/sluice/offsetlog"
)

// Record is what a table's commit says about the batch that it publishes. It stands in commitInfo.userMetadata as
// {"sluice":{…}}, where every engine's history shows it, so that the table alone tells what was read into it.
type Record struct {
	// App is the pipeline's name, and the appId of the commit's txn action; Batch is that action's version.
	App   string `json:"app"`
	Batch int64  `json:"batch"`
	// Since is the first batch that the commit stands for. Batches without rows make no commit of their own: the next
	// commit covers them.
	Since int64 `json:"since"`
	// Checkpoint is the id of the offset log that the batch was planned in.
	Checkpoint string    `json:"checkpoint"`
	Time       time.Time `json:"time"`
	// Ranges are those of the plans Since to Batch, merged.
	Ranges []offsetlog.Range `json:"ranges"`
	// Lost are parts of Ranges that the source lost before they were read.
	Lost []offsetlog.Range `json:"lost,omitempty"`
	// Rows counts the rows that the commit adds, Bad the records that were skipped or quarantined.
	Rows int64 `json:"rows"`
	Bad  int64 `json:"bad,omitempty"`
	// Tombstones counts the Kafka records without a value that were left out, as configured.
	Tombstones int64 `json:"tombstones,omitempty"`
	// Unknown counts fields of the records that no column takes, by path.
	Unknown     map[string]int64 `json:"unknown,omitempty"`
	Fingerprint string           `json:"fingerprint,omitempty"`
	// PeakBytes is the most memory that the run of the batch held by its own count: records ahead, rows, row groups, parts.
	PeakBytes int64 `json:"peak_bytes,omitempty"`

	// Files and FileBytes are the data files that the commit adds, and Compacted says that small files have been rewritten since the
	// pipeline's commit before. They are no part of what is stored, and come from the commits.
	Files     int   `json:"-"`
	FileBytes int64 `json:"-"`
	Compacted bool  `json:"-"`
}

type envelope struct {
	Sluice *Record `json:"sluice"`
}

// Metadata renders the record for commitInfo.userMetadata.
func (r *Record) Metadata() (string, error) {
	text, err := json.Marshal(envelope{r})
	if err != nil {
		return "", fmt.Errorf("render the record of batch %d: %w", r.Batch, err)
	}
	return string(text), nil
}

// ParseRecord reads what Metadata rendered. Any other text, another program's, gives nil.
func ParseRecord(userMetadata string) *Record {
	var e envelope
	if err := json.Unmarshal([]byte(userMetadata), &e); err != nil {
		return nil
	}
	return e.Sluice
}
