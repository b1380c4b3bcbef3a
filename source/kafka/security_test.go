package kafka

import (
	"crypto/tls"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicedata/sluice/internal/kafkatest"
	"github.com/sluicedata/sluice/source"
)

func TestRefusedTopicIsAnError(t *testing.T) {
	c := kafkatest.Fake(t)
	topic := c.Topic(t, 1)
	c.Produce(t, topic, 0, kafkatest.Record("v"))
	p := begin(t, c, nil, topic)
	ranges := p.next(source.Limits{}).Ranges
	fault := c.Kfake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Topic: topic, Err: kerr.TopicAuthorizationFailed, Count: -1})
	defer fault.Remove()
	_, err := p.source.Read(t.Context(), ranges, func(*source.Block) error { return nil })
	if !errors.Is(err, kerr.TopicAuthorizationFailed) || !strings.Contains(err.Error(), "grant") {
		t.Errorf("error %v", err)
	}
}

func TestSecureConnections(t *testing.T) {
	n := kafkatest.Broker(t)
	topic := n.Topic(t, 1)
	n.Produce(t, topic, 0, kafkatest.Record("v"))
	n.User(t, kadm.ScramSha256, "alice", "alice-secret")
	n.User(t, kadm.ScramSha512, "carol", "carol-secret")
	n.User(t, kadm.ScramSha512, "mallory", "mallory-secret")
	for _, user := range []string{"alice", "carol", kafkatest.PlainUser} {
		n.Allow(t, user, topic)
	}
	withTLS := TLS{Enabled: true, CAFile: n.CAFile}
	const hungUp = "check that tls and sasl" // the other side may be away: it is waited for
	tests := []struct {
		name string
		tls  TLS
		sasl *SASL
		want string // part of the error; "" means that it reads
	}{
		{"PLAIN", withTLS, &SASL{Mechanism: Plain, Username: kafkatest.PlainUser, Password: kafkatest.PlainPassword}, ""},
		{"SCRAM-SHA-256", withTLS, &SASL{Mechanism: ScramSHA256, Username: "alice", Password: "alice-secret"}, ""},
		{"SCRAM-SHA-512", withTLS, &SASL{Mechanism: ScramSHA512, Username: "carol", Password: "carol-secret"}, ""},
		{"insecure, by name", TLS{Enabled: true, Insecure: true}, &SASL{Mechanism: ScramSHA512, Username: "carol", Password: "carol-secret"}, ""},
		{"server name", TLS{Enabled: true, CAFile: n.CAFile, ServerName: "localhost"}, &SASL{Mechanism: ScramSHA512, Username: "carol", Password: "carol-secret"}, ""},
		{"wrong server name", TLS{Enabled: true, CAFile: n.CAFile, ServerName: "elsewhere"}, &SASL{Mechanism: ScramSHA512, Username: "carol", Password: "carol-secret"}, "check tls"},
		{"wrong password, PLAIN", withTLS, &SASL{Mechanism: Plain, Username: kafkatest.PlainUser, Password: "wr0ng"}, "check sasl.username, sasl.password"},
		{"wrong password, SCRAM", withTLS, &SASL{Mechanism: ScramSHA512, Username: "carol", Password: "wr0ng"}, "check sasl.username, sasl.password"},
		{"unknown user", withTLS, &SASL{Mechanism: ScramSHA256, Username: "nobody", Password: "wr0ng"}, "check sasl.username, sasl.password"},
		{"unknown authority", TLS{Enabled: true}, &SASL{Mechanism: ScramSHA512, Username: "carol", Password: "carol-secret"}, "check tls.ca"},
		{"no SASL", withTLS, nil, hungUp},
		{"no TLS", TLS{}, &SASL{Mechanism: ScramSHA512, Username: "carol", Password: "carol-secret"}, hungUp},
		{"no grant", withTLS, &SASL{Mechanism: ScramSHA512, Username: "mallory", Password: "mallory-secret"}, "grant this user"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &pipeline{t: t, config: Config{Brokers: []string{n.Secure}, Topics: []string{topic}, TLS: tt.tls, SASL: tt.sasl}}
			if tt.want == hungUp {
				p.config.ConnectTimeout = time.Second
			}
			p.restart(nil)
			if tt.want == "" {
				expect(t, "records", []string{topic + "/0@0=v"}, p.all(source.Limits{}))
				return
			}
			begun := time.Now()
			_, err := p.source.Next(t.Context(), source.Limits{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if tt.sasl != nil && err != nil && strings.Contains(err.Error(), string(tt.sasl.Password)) {
				t.Errorf("the error shows the password: %v", err)
			}
			if d := time.Since(begun); d > 15*time.Second {
				t.Errorf("it took %v", d)
			}
		})
	}
}

func TestClientCertificate(t *testing.T) {
	caFile, pairFile := kafkatest.Certificate(t)
	ours := TLS{Enabled: true, CAFile: caFile, CertFile: pairFile, KeyFile: pairFile}
	var found faults
	serving := ours.config(&found)
	dialing := ours.config(&found)
	if len(found) > 0 {
		t.Fatal(found)
	}
	serving.ClientCAs, serving.ClientAuth = serving.RootCAs, tls.RequireAndVerifyClientCert
	c := kafkatest.Fake(t, kfake.TLS(serving), kfake.SeedTopics(1, "orders"))
	c.ProduceWith(t, "orders", 0, []kgo.Opt{kgo.DialTLSConfig(dialing)}, kafkatest.Record("v"))

	p := begin(t, c, func(cfg *Config) { cfg.TLS = ours }, "orders")
	expect(t, "records", []string{"orders/0@0=v"}, p.all(source.Limits{}))

	p = begin(t, c, func(cfg *Config) { cfg.TLS = TLS{Enabled: true, CAFile: caFile} }, "orders")
	if _, err := p.source.Next(t.Context(), source.Limits{}); err == nil || !strings.Contains(err.Error(), "check tls") {
		t.Errorf("without a certificate: %v", err)
	}
}
