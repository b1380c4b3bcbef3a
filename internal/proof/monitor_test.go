package proof

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sluicedata/sluice/internal/kafkatest"
	"github.com/sluicedata/sluice/internal/s3test"
)

// monitored is a run that answers over HTTP.
type monitored struct {
	*process
	url string
}

// startMonitored runs the pipeline until it is stopped, and has it listen.
func (s *site) startMonitored(t *testing.T) monitored {
	t.Helper()
	p := s.start(t, "--listen", "127.0.0.1:0")
	p.must(t, "msg=listening", 1)
	at := regexp.MustCompile(`msg=listening pipeline=proof address=(\S+)`).FindStringSubmatch(p.stderr.text())
	if at == nil {
		t.Fatalf("no address:\n%s", p.stderr.text())
	}
	return monitored{p, "http://" + at[1]}
}

func (m monitored) get(path string) (status int, text string, err error) {
	answer, err := http.Get(m.url + path)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(body), err
}

// becomes waits until a path answers with a status and with a text that matches.
func (m monitored) becomes(t *testing.T, path string, status int, pattern string) {
	t.Helper()
	kafkatest.Eventually(t, fmt.Sprintf("%s: %d %s", path, status, pattern), func() error {
		got, text, err := m.get(path)
		if err == nil && (got != status || !regexp.MustCompile(pattern).MatchString(text)) {
			err = fmt.Errorf("%d %s", got, text)
		}
		return err
	})
}

// away is what a run answers whose service is away: it lives, and is not ready for the reason given.
func (m monitored) away(t *testing.T, kind, reason string) {
	t.Helper()
	m.becomes(t, "/readyz", http.StatusServiceUnavailable, "waiting since .*"+reason)
	m.becomes(t, "/healthz", http.StatusOK, "ok")
	m.becomes(t, "/metrics", http.StatusOK, `sluice_waiting_since_timestamp_seconds\{class="retrying",kind="`+kind+`",pipeline="proof"\}`)
}

// works is what a run answers that has committed so many rows.
func (m monitored) works(t *testing.T, rows int64) {
	t.Helper()
	m.becomes(t, "/metrics", http.StatusOK, fmt.Sprintf(`(?m)^sluice_rows_total\{pipeline="proof"\} %d$`, rows))
	m.becomes(t, "/readyz", http.StatusOK, "ok")
	m.becomes(t, "/healthz", http.StatusOK, "ok")
	_, text, err := m.get("/metrics")
	if err != nil || strings.Contains(text, "sluice_waiting_since") {
		t.Errorf("it waits: %v\n%s", err, text)
	}
}

// documented wants every metric of the run to be in docs/operating.md.
func (m monitored) documented(t *testing.T) {
	t.Helper()
	docs, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, err := m.get("/metrics")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile(`(?m)^# TYPE (sluice_\S+)`).FindAllStringSubmatch(text, -1) {
		if !strings.Contains(string(docs), "\n| `"+name[1]+"` | ") {
			t.Errorf("%s is not documented", name[1])
		}
	}
}

func TestRunTellsThatS3IsAwayAndBack(t *testing.T) {
	j := newJudge(t)
	j.startS3(t)
	way := s3test.NewProxy(t, j.s3.Server) // is mended at once: a server that starts may take longer than a run waits
	s := j.siteAt(t, places{table: j.s3.place("notes")}, fileSource, noteColumns, "", fmt.Sprintf("storage: {endpoint: %q}", way.URL))
	p := &producer{}
	land := func() { t.Helper(); must(t, func() error { return p.land(s.landing, 20) }) }
	land()
	run := s.startMonitored(t)
	run.works(t, 20)
	run.becomes(t, "/metrics", http.StatusOK, `sluice_storage_requests_total\{operation="PutObject",pipeline="proof"\} [1-9]`)
	run.must(t, "PutObject=3", 1) // the first batch's requests
	way.Harm(func(*http.Request) s3test.Fault { return s3test.Drop })
	land()
	run.away(t, "s3_away", "S3 fails, and is asked again")
	way.Harm(nil)
	run.works(t, 40)
	run.becomes(t, "/metrics", http.StatusOK, `sluice_retries_total\{cause="connection",pipeline="proof",service="s3"\} [1-9]`)
	run.documented(t)
	s.stop(t, run.process)
	if _, _, err := run.get("/healthz"); err == nil {
		t.Error("it answers after its end")
	}
	s.check(t, p)
	j.judge(t)
}

// brokerSeenAway is a part of the test of a broker that goes away.
func brokerSeenAway(t *testing.T, j *judge, broker *kafkatest.Node) {
	topic := broker.Topic(t, 1)
	s := j.site(t, kafkaSource(broker.Cluster, topic), noteColumns, "")
	p := &producer{}
	send := func() {
		t.Helper()
		must(t, func() error { return p.send(broker.Client(t, manualPartitioner), topic, 1, 50) })
	}
	send()
	run := s.startMonitored(t)
	run.works(t, 50)
	broker.Stop(t)
	run.away(t, "kafka_away", "look up the topics' offsets: Kafka at ")
	if chaosTime(t) > 0 {
		s.checkWaiting(t)
	}
	broker.Start(t)
	send()
	run.works(t, 100)
	for _, sample := range []string{
		`sluice_retries_total\{cause="connection",pipeline="proof",service="kafka"\} [1-9]`,
		`sluice_partition_applied_position\{partition="` + topic + `/0",pipeline="proof"\} 100`,
		`sluice_partition_planned_position\{partition="` + topic + `/0",pipeline="proof"\} 100`,
		`sluice_partition_lag\{partition="` + topic + `/0",pipeline="proof"\} 0`,
	} {
		run.becomes(t, "/metrics", http.StatusOK, sample)
	}
	run.documented(t)
	s.stop(t, run.process)
	s.check(t, p)
}

// checkWaiting wants status to tell what the run of another process has waited for for some time, which it has once that is
// in the checkpoint.
func (s *site) checkWaiting(t *testing.T) {
	t.Helper()
	kafkatest.Eventually(t, "an entry for status", func() error {
		if len(names(t, filepath.Join(s.checkpoint, "errors", "*.json"))) == 0 {
			return errors.New("there is none")
		}
		return nil
	})
	said := run(t, 0, "status", s.file).stdout.String()
	if !regexp.MustCompile(`state +retrying \(kafka_away\), since .*\nwaiting +.*Kafka at .*\nwhat to do +`).MatchString(said) {
		t.Errorf("status:\n%s", said)
	}
}
