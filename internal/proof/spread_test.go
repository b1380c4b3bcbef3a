package proof

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/sluicedata/sluice/internal/interop"
	"github.com/sluicedata/sluice/internal/interop/rowhash"
)

// mostMemory is what no run may exceed.
const mostMemory = 1 << 30

// landPartitions lands one file of records that take turns over so many partitions, and returns their content.
func landPartitions(t *testing.T, folder string, records, partitions int) interop.Content {
	t.Helper()
	var b bytes.Buffer
	var sum rowhash.Sum
	for i := range records {
		key := fmt.Sprintf("key %d", i%partitions)
		fmt.Fprintf(&b, "{\"k\":%q,\"v\":%d}\n", key, i)
		sum.Add(rowhash.AppendInt(append(rowhash.AppendString(nil, key), rowhash.Separator), int64(i)))
	}
	if err := os.WriteFile(filepath.Join(folder, "spread.ndjson"), b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return interop.Content{Rows: int64(records), Hash: sum.Hash()}
}

func TestBatchOverTenThousandPartitionsStaysWithinMemory(t *testing.T) {
	s := newJudge(t).site(t, fileSource, "\n  - {name: k, type: string}\n  - {name: v, type: long}", ", partition_by: [k]")
	want := landPartitions(t, s.landing, 200_000, 10_000)
	p := s.finish(t)
	t.Logf("peak memory %d MB, CPU %v", p.peakBytes()>>20, p.cpu())
	if p.peakBytes() > mostMemory {
		t.Errorf("peak memory %d bytes, want at most %d", p.peakBytes(), mostMemory)
	}
	s.checkAudit(t, want.Rows)
	s.checkDisk(t)
	interop.Check(t, interop.Table{Path: s.table, Versions: map[int64]interop.Content{0: want}})
}
