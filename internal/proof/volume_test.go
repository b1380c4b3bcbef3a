package proof

import (
	"os"
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

// fiveDays spreads so many records over five days.
func fiveDays(records int64) *events.Generator {
	g := events.New(3)
	g.Step = 5 * 24 * time.Hour / time.Duration(records)
	return g
}

func TestLoadFromALandingFolderIsExactAndSmall(t *testing.T) {
	s := newJudge(t).site(t, fileSource, eventColumns, ", partition_by: [day]")
	g := fiveDays(volume(t))
	if err := events.WriteFiles(t.Context(), g, s.landing, events.Landing{Records: volume(t), Files: 24}); err != nil {
		t.Fatal(err)
	}
	s.load(t, g.Summary())
}

func TestLoadFromKafkaIsExactAndSmall(t *testing.T) {
	broker := kafkatest.Broker(t)
	topic := broker.Topic(t, 4)
	s := newJudge(t).site(t, kafkaSource(broker.Cluster, topic), eventColumns, ", partition_by: [day]")
	g := fiveDays(volume(t))
	to := events.Topic{Brokers: broker.Addrs, Name: topic, Partitions: 4}
	if err := events.Produce(t.Context(), g, to, events.Landing{Records: volume(t)}); err != nil {
		t.Fatal(err)
	}
	s.load(t, g.Summary())
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
	checkDisk(t, s.table)
	began = time.Now()
	interop.Check(t, interop.Table{
		Path: s.table, Columns: events.ColumnNames(),
		Versions: map[int64]interop.Content{newest(t, s.table): {Rows: want.Records, Hash: want.Hash}},
	})
	t.Logf("foreign readers took %v", time.Since(began).Round(time.Millisecond))
}
