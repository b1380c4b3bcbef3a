package proof

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/internal/interop"
	"github.com/sluicedata/sluice/internal/kafkatest"
)

const (
	// documentedMemory is what docs/operating.md promises of a run without the key memory.
	documentedMemory = (512 + 64) << 20
	// smallMachine is the memory of the cgroup in which these runs are.
	smallMachine = 1_000_000_000
	longNote     = 1_000_000 // bytes
	longColumns  = noteColumns + `
  - {name: pad, type: string}
  - {name: bucket, type: int}`
	buckets = 64
)

// padOf makes a note long. It compresses to about a third, as texts do.
func padOf(id int64, length int) string {
	var b strings.Builder
	b.Grow(length + 24)
	for n := uint64(id + 1); b.Len() < length; {
		n = n*6364136223846793005 + 1442695040888963407
		fmt.Fprintf(&b, "%08x some words ", n>>32)
	}
	return b.String()[:length]
}

// lengthen gives each of the newest notes a pad of its own.
func lengthen(values [][]byte, from int64, length int) [][]byte {
	for i, value := range values {
		id := from + int64(i)
		more := fmt.Sprintf(`,"bucket":%d,"pad":"%s"}`, id%buckets, padOf(id, length))
		values[i] = append(bytes.TrimSuffix(value, []byte("}")), more...)
	}
	return values
}

// sendLong produces records of one length to all partitions in turn.
func (p *producer) sendLong(client *kgo.Client, topic string, partitions int32, records, length int) error {
	var batch []*kgo.Record
	for left := records; left > 0; left-- {
		from := p.notes
		value := lengthen(p.next(1), from, length)[0]
		batch = append(batch, &kgo.Record{Topic: topic, Partition: int32(from) % partitions, Value: value})
		if left > 1 && len(batch) < 16 {
			continue
		}
		if err := client.ProduceSync(context.Background(), batch...).FirstErr(); err != nil {
			return err
		}
		batch = batch[:0]
	}
	return nil
}

// landLong puts files of long records into a local folder.
func (p *producer) landLong(folder string, files, records, length int) error {
	for range files {
		p.files++
		from := p.notes
		text := append(bytes.Join(lengthen(p.next(records), from, length), []byte("\n")), '\n')
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%06d.ndjson", p.files)), text, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// finishSmall is finish in a cgroup of a small machine, where one can be made. Everywhere the peak is held to what is
// documented.
func (s *site) finishSmall(t *testing.T) {
	t.Helper()
	args := []string{"run", s.file, "--trigger", "available-now"}
	name, confined := cgroup(t, smallMachine)
	forgetPeak()
	p := launch(t, "/bin/sh", append([]string{"-c", `test -z "$0" || echo $$ > "$0"; exec "$@"`, name, binary(t, "sluice")}, args...)...)
	if code := p.wait(t); code != 0 {
		t.Fatalf("exit %d (in a cgroup: %v)\n%s", code, confined, p.stderr.text())
	}
	t.Logf("peak memory %d MB, in a cgroup: %v, %v of CPU", p.peakBytes()/1e6, confined, p.cpu())
	if p.peakBytes() > documentedMemory {
		t.Errorf("peak memory %d bytes, of %d documented", p.peakBytes(), int64(documentedMemory))
	}
}

// cgroup makes a cgroup with a memory limit, and returns the file by which a process joins it; empty where none can be
// made.
func cgroup(t *testing.T, limit int64) (join string, ok bool) {
	t.Helper()
	for mount, file := range map[string]string{"/sys/fs/cgroup/memory": "memory.limit_in_bytes", "/sys/fs/cgroup": "memory.max"} {
		if _, err := os.Stat(filepath.Join(mount, "cgroup.procs")); err != nil {
			continue
		}
		folder, err := os.MkdirTemp(mount, "sluice-proof-")
		if err != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(folder) })
		if err := os.WriteFile(filepath.Join(folder, file), []byte(fmt.Sprint(limit)), 0o666); err == nil {
			return filepath.Join(folder, "cgroup.procs"), true
		}
	}
	t.Log("no cgroup can be made here: the peak alone is watched")
	return "", false
}

// checkLong is check for long notes, of which the foreign readers see the newest version without the pads.
func (s *site) checkLong(t *testing.T, p *producer, length func(id int64) int) {
	t.Helper()
	s.checkAudit(t, p.count())
	s.checkDisk(t)
	got, want := map[string]int{}, map[string]int{}
	for id := range p.rows() {
		want[fmt.Sprint(id)] = 1
	}
	scan(t, s.table, []string{"id", "pad"}, func(rows arrow.Record) {
		pads := rows.Column(1).(*array.String)
		for i, id := range rows.Column(0).(*array.Int64).Int64Values() {
			got[fmt.Sprint(id)]++
			if pads.Value(i) != padOf(id, length(id)) {
				t.Errorf("the pad of note %d has %d bytes, and is another", id, len(pads.Value(i)))
			}
		}
	})
	diff(t, "notes", got, want)
	s.judge.add(interop.Table{
		Path: s.table, Columns: []string{"id", "part", "text"},
		Versions: map[int64]interop.Content{newest(t, s.table): {Rows: p.count(), Hash: p.hash()}},
	})
}

func longNotes(int64) int { return longNote }

func TestBacklogOfLongRecordsIn64PartitionsFitsIntoASmallMachine(t *testing.T) {
	broker := kafkatest.Broker(t)
	topic := broker.Topic(t, buckets, "max.message.bytes=2000000")
	p := &producer{}
	client := broker.Client(t, manualPartitioner, kgo.ProducerBatchMaxBytes(1_500_000), kgo.ProducerBatchCompression(kgo.SnappyCompression()))
	must(t, func() error { return p.sendLong(client, topic, buckets, either(t, 600, 10_000), longNote) })
	j := newJudge(t)
	s := j.site(t, kafkaSource(broker.Cluster, topic), longColumns, "")
	s.finishSmall(t)
	broker.Delete(t, topic)
	s.checkLong(t, p, longNotes)
	j.judge(t)
}

func TestFilesOfLongRecordsFitIntoASmallMachine(t *testing.T) {
	j := newJudge(t)
	s := j.site(t, fileSource, longColumns, ", partition_by: [bucket]")
	p := &producer{}
	must(t, func() error { return p.landLong(s.landing, 4, either(t, 64, 1000), longNote) })
	s.finishSmall(t)
	s.checkLong(t, p, longNotes)
	j.judge(t)
}

func TestFilesOfLongRecordsFitIntoASmallMachineOnTheirWayIntoS3(t *testing.T) {
	j := newJudge(t)
	j.startS3(t)
	s := j.siteAt(t, places{table: j.s3.place("notes")}, fileSource, longColumns, ", partition_by: [bucket]")
	p := &producer{}
	must(t, func() error { return p.landLong(s.landing, 4, either(t, 64, 1000), longNote) })
	s.finishSmall(t)
	s.checkLong(t, p, longNotes)
	j.judge(t)
}
