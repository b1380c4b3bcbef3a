package proof

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/sluicedata/sluice/internal/kafkatest"
)

func TestLoginOverTLSAndAPasswordThatIsWrongOrChanges(t *testing.T) {
	t.Parallel()
	broker := kafkatest.Broker(t)
	j := newJudge(t)
	topic := broker.Topic(t, 2)
	const user, first, second = "ingest", "the-first-secret", "the-second-secret"
	broker.User(t, kadm.ScramSha512, user, first)
	broker.Allow(t, user, topic)
	source := func(password string) string {
		return fmt.Sprintf("kafka: {brokers: [%q], topics: [%s], tls: {ca: %q}, sasl: {mechanism: SCRAM-SHA-512, username: %s, password: %q}}",
			broker.Secure, topic, broker.CAFile, user, password)
	}
	s := j.site(t, source("not-"+first), noteColumns, "")
	login := func(password string) { s.configure(t, pipelineName, source(password), noteColumns, "") }
	p := &producer{}
	client := broker.Client(t, manualPartitioner)
	send := func() error { return p.send(client, topic, 2, 50) }
	refused := func(process *process) {
		t.Helper()
		if code := process.wait(t); code != 1 {
			t.Errorf("exit %d, want 1", code)
		}
		wants(t, process, "check sasl.username, sasl.password and sasl.mechanism")
		for _, secret := range []string{first, second} {
			if containsFold(process.stderr.text(), secret) {
				t.Errorf("the log shows a password:\n%s", process.stderr.text())
			}
		}
	}

	must(t, send)
	refused(s.start(t))
	login(first)
	s.finish(t)

	running := s.start(t)
	must(t, send)
	running.must(t, "msg=committed", 1)
	broker.User(t, kadm.ScramSha512, user, second) // noticed when the broker next asks who this is
	refused(running)
	must(t, send)
	refused(s.start(t))
	login(second)
	s.finish(t)
	s.check(t, p)
	j.judge(t)
}
