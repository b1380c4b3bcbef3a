package proof

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/sluicedata/sluice/internal/kafkatest"
	"github.com/sluicedata/sluice/internal/s3test"
)

// Secrets of a run over Kafka and S3 that no other text holds.
const (
	kafkaPassword = "kafka-pw-7f3c19"
	wrongPassword = "wrong-pw-52d8e0"
	wrongKey      = "wrong-key-9b41aa"
	sessionToken  = "session-token-c05e77"
)

// TestSecretsAreNowhereInWhatIsSaidOrWritten runs the program with logins to Kafka and S3 through success and failures, at the
// log's lowest level, and looks for them in all output and in every file that it leaves.
func TestSecretsAreNowhereInWhatIsSaidOrWritten(t *testing.T) {
	broker := kafkatest.Broker(t)
	j := newJudge(t)
	j.startS3(t)
	topic := broker.Topic(t, 1)
	broker.User(t, kadm.ScramSha512, "reader", kafkaPassword)
	broker.Allow(t, "reader", topic)
	source := fmt.Sprintf(`kafka: {brokers: [%q], topics: [%s], tls: {ca: %q}, sasl: {mechanism: SCRAM-SHA-512, username: reader, password: "${KAFKA_PASSWORD}"}}`,
		broker.Secure, topic, broker.CAFile)
	s := j.siteAt(t, places{table: j.s3.place("notes")}, source, noteColumns, "", "batch: {max_records: 10}", "on_error: ${POLICY:-fail}")
	p := &producer{}
	client := broker.Client(t, manualPartitioner)
	must(t, func() error { return p.send(client, topic, 1, 30) })
	kafkatest.Eventually(t, "the topic of offsets", func() error { // a reader of little rights would wait for it
		_, err := kadm.NewClient(client).FetchOffsets(t.Context(), "any")
		return err
	})

	var said bytes.Buffer
	sluice := func(want int, args ...string) {
		t.Helper()
		process := run(t, want, args...)
		said.Write(process.stdout.Bytes())
		said.WriteString(process.stderr.text())
	}
	debug := []string{"run", s.file, "--log-level", "debug", "--log-format", "json"}
	t.Setenv("KAFKA_PASSWORD", kafkaPassword)
	sluice(0, debug...)
	for _, verb := range []string{"validate", "status", "audit"} {
		sluice(0, verb, s.file)
		sluice(0, verb, s.file, "-o", "json")
	}
	sluice(0, "table", "history", s.table)

	with := func(variable, value string, want int, args ...string) {
		t.Helper()
		before, was := os.LookupEnv(variable)
		t.Setenv(variable, value)
		sluice(want, args...)
		t.Setenv(variable, before)
		if !was {
			must(t, func() error { return os.Unsetenv(variable) })
		}
	}
	with("KAFKA_PASSWORD", wrongPassword, 1, debug...)
	with("AWS_SECRET_ACCESS_KEY", wrongKey, 1, debug...)
	with("AWS_SESSION_TOKEN", sessionToken, 1, debug...)
	with("POLICY", kafkaPassword, exitUsage, debug...) // a secret where none belongs
	p.badEvery = 1
	must(t, func() error { return p.send(client, topic, 1, 1) })
	sluice(1, debug...) // a bad record
	sluice(0, "status", s.file)
	with("POLICY", "quarantine", 0, debug...)

	s.checkSecrets(t, said.Bytes())
}

const exitUsage = 2

// checkSecrets looks for secrets in what was said, and in the files of the site and of the S3 server.
func (s *site) checkSecrets(t *testing.T, said []byte) {
	t.Helper()
	if len(said) == 0 {
		t.Error("nothing was said")
	}
	look := func(where string, text []byte) {
		for _, secret := range []string{kafkaPassword, wrongPassword, wrongKey, sessionToken, s3test.SecretKey} {
			for _, form := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret))} {
				if at := bytes.Index(text, []byte(form)); at >= 0 {
					t.Errorf("%s holds %s: %q", where, secret, text[max(0, at-200):min(len(text), at+100)])
				}
			}
		}
	}
	look("the output", said)
	files := 0
	for _, folder := range []string{s.folder, s.judge.s3.Root} {
		err := filepath.WalkDir(folder, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			files++
			text, err := os.ReadFile(name)
			look(name, text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 10 {
		t.Errorf("only %d files", files)
	}
}
