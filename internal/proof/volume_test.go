package proof

import (
	"encoding/json"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/sluicedata/sluice/internal/events"
	"github.com/sluicedata/sluice/internal/interop"
	"github.com/sluicedata/sluice/internal/kafkatest"
)

// eventColumns are events.Columns as a pipeline's, and the day that the table is partitioned by.
const eventColumns = `
  - {name: id, type: string, nullable: false}
  - {name: user_id, type: long}
  - {name: event_type, type: string}
  - {name: ts, type: timestamp}
  - {name: url, type: string}
  - {name: amount, type: double}
  - {name: device, type: "struct<os:string,version:string,screen_w:long>"}
  - {name: tags, type: "array<string>"}
  - {name: referrer, type: string}
  - {name: seq, type: long}
  - {name: mobile, type: boolean}
  - {name: day, type: date, from: ts}`

// volume is how many records a load has: SLUICE_PROOF_RECORDS, or 3,000,000 in CI and 200,000 elsewhere.
func volume(t *testing.T) int64 {
	t.Helper()
	if os.Getenv("CI") == "true" {
		return number(t, "SLUICE_PROOF_RECORDS", 3_000_000)
	}
	return number(t, "SLUICE_PROOF_RECORDS", 200_000)
}

// generate makes records that are spread over five days, in a process of its own.
func generate(t *testing.T, records int64, where ...string) (made events.Summary) {
	t.Helper()
	step := 5 * 24 * time.Hour / time.Duration(records)
	args := append([]string{"--seed", "3", "--records", strconv.FormatInt(records, 10), "--step", step.String()}, where...)
	p := launch(t, binary(t, "generate"), args...)
	if code := p.wait(t); code != 0 {
		t.Fatalf("generate %v: exit %d\n%s", args, code, p.stderr.text())
	}
	if err := json.Unmarshal(p.stdout.Bytes(), &made); err != nil {
		t.Fatal(err)
	}
	return made
}

func TestLoadFromALandingFolderIsExactAndSmall(t *testing.T) {
	s := newJudge(t).site(t, fileSource, eventColumns, ", partition_by: [day]")
	s.load(t, generate(t, volume(t), "--out", s.landing, "--files", "24"))
}

func TestLoadFromKafkaIsExactAndSmall(t *testing.T) {
	broker := kafkatest.Broker(t)
	topic := broker.Topic(t, 4)
	s := newJudge(t).site(t, kafkaSource(broker.Cluster, topic), eventColumns, ", partition_by: [day]")
	s.load(t, generate(t, volume(t), "--kafka", broker.Addrs[0], "--topic", topic, "--partitions", "4"))
	broker.Delete(t, topic)
}

// load runs a pipeline over all that is there, and checks rows, memory and disk.
func (s *site) load(t *testing.T, want events.Summary) {
	t.Helper()
	began := time.Now()
	p := s.finish(t)
	took := time.Since(began)
	t.Logf("%d records, %d MB in %v: %.0f rows/s, %.2f s of CPU, peak memory %d MB, %d versions",
		want.Records, want.Bytes/1e6, took.Round(time.Millisecond), float64(want.Records)/took.Seconds(), p.cpu().Seconds(), p.peakBytes()/1e6, newest(t, s.table)+1)
	if p.peakBytes() >= mostMemory {
		t.Errorf("peak memory %d bytes, want less than %d", p.peakBytes(), mostMemory)
	}
	if len(names(t, s.table+"/day=*")) != len(want.Days) {
		t.Errorf("%d days, want %d", len(names(t, s.table+"/day=*")), len(want.Days))
	}
	s.checkAudit(t, want.Records)
	s.checkDisk(t)
	began = time.Now()
	interop.Check(t, interop.Table{
		Path: s.table, Columns: events.ColumnNames(),
		Versions: map[int64]interop.Content{newest(t, s.table): {Rows: want.Records, Hash: want.Hash}},
	})
	t.Logf("foreign readers took %v", time.Since(began).Round(time.Millisecond))
}
