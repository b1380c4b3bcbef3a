package offsetlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"time"
)

// Plan is one entry of the log: what a batch reads, and what was true when that was decided. Immutable once stored.
type Plan struct {
	// Pipeline is the pipeline's name, Checkpoint the UUID born with the log's first entry.
	Pipeline   string `json:"pipeline"`
	Checkpoint string `json:"checkpoint"`
	// Batch is the batch's id: 0, 1, 2, …
	Batch int64 `json:"batch"`
	// Time is the batch's time, which stands for "now" in everything that the batch computes. Microseconds, UTC.
	Time time.Time `json:"time"`
	// First is the oldest batch whose plan still counts. Entries below it are ignored and may be deleted: it is how a
	// process that slept through many batches, and writes an entry that was pruned long ago, does no harm.
	First int64 `json:"first"`
	// Ranges are what the batch reads, in the order in which it reads them.
	Ranges []Range `json:"ranges"`
	// Fingerprint identifies the logic that the plan was made under.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Start is where the source was told to begin when the pipeline was new. Empty: unknown, or there is no such setting.
	Start string `json:"start,omitempty"`
	// Table is the id of the table (metaData.id), empty when there was none yet.
	Table string `json:"table,omitempty"`
	// Committed is the newest batch that was then known to be in the table.
	Committed *Committed `json:"committed,omitempty"`
	// Adopted marks an entry that is no plan of ours: the position was taken from the table's own record of this batch.
	// What stands before it in the log does not count.
	Adopted *Adopted `json:"adopted,omitempty"`
}

// Committed names a batch and the table version that holds it.
type Committed struct {
	Batch   int64 `json:"batch"`
	Version int64 `json:"version"`
}

// Adopted says whose record was taken over.
type Adopted struct {
	// Checkpoint is the id in the table's record: that of the checkpoint which the batch was run from.
	Checkpoint string `json:"checkpoint"`
	// Unrecorded is the id of a table whose txn action for the batch was gone, so that the record in its history is all
	// that there is to go on from. Empty for a table that still had it.
	Unrecorded string `json:"unrecorded,omitempty"`
}

// errTorn is Decode's error for an entry that ends before it should: a write that did not get through.
var errTorn = errors.New("the entry ends too early")

const (
	magic  = "sluice offsets"
	format = 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Encode renders the plan as it is stored: a line "sluice offsets 1 crc32c:xxxxxxxx LENGTH" and the plan as JSON of LENGTH
// bytes, its last a newline. The checksum is of these bytes.
func (p Plan) Encode() ([]byte, error) {
	p.Time = p.Time.UTC().Truncate(time.Microsecond)
	body, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode plan of batch %d: %w", p.Batch, err)
	}
	body = append(body, '\n')
	head := fmt.Appendf(nil, "%s %d crc32c:%08x %d\n", magic, format, crc32.Checksum(body, castagnoli), len(body))
	return append(head, body...), nil
}

// Decode parses what Encode made. An entry that was cut short gives an error that IsTorn knows.
func Decode(data []byte) (Plan, error) {
	head, body, whole := bytes.Cut(data, []byte("\n"))
	if !whole {
		if bytes.HasPrefix([]byte(magic), head) || bytes.HasPrefix(head, []byte(magic)) {
			return Plan{}, errTorn
		}
		return Plan{}, fmt.Errorf("not an offset log entry: it begins with %.40q", head)
	}
	if !bytes.HasPrefix(head, []byte(magic+" ")) {
		return Plan{}, fmt.Errorf("not an offset log entry: its first line is %.40q", head)
	}
	var version, length int
	var sum uint32
	if n, err := fmt.Sscanf(string(head[len(magic):]), " %d crc32c:%x %d", &version, &sum, &length); n < 1 || err != nil && version == format {
		return Plan{}, fmt.Errorf("damaged first line %.80q", head)
	}
	if version != format {
		return Plan{}, fmt.Errorf("format %d of the offset log is newer than this program, which knows %d", version, format)
	}
	switch {
	case len(body) < length:
		return Plan{}, errTorn
	case len(body) > length:
		return Plan{}, fmt.Errorf("%d bytes follow the entry", len(body)-length)
	}
	if got := crc32.Checksum(body, castagnoli); got != sum {
		return Plan{}, fmt.Errorf("damaged: its checksum is %08x, not %08x", got, sum)
	}
	var p Plan
	if err := json.Unmarshal(body, &p); err != nil {
		return Plan{}, fmt.Errorf("damaged in spite of a right checksum: %w", err)
	}
	return p, nil
}

// IsTorn says whether Decode failed because the entry was cut short.
func IsTorn(err error) bool { return errors.Is(err, errTorn) }
