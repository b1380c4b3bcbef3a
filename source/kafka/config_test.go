package kafka

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAllFaultsOfTheSettingsAreReportedAtOnce(t *testing.T) {
	_, err := New(Config{
		Brokers:    []string{"kafka://host:9092"},
		Topics:     []string{"a", "a", "b/c"},
		Isolation:  "serializable",
		OnDataLoss: "ignore",
		Start:      Start{At: StartOffsets, Offsets: map[string]int64{"other/0": 1, "a/x": 2, "a/0": -1}},
		TLS:        TLS{CAFile: "ca.pem"},
		SASL:       &SASL{Mechanism: "GSSAPI", Password: "hunter2"},
	})
	var config *ConfigError
	if !errors.As(err, &config) {
		t.Fatalf("error %v, want a *ConfigError", err)
	}
	var keys []string
	for _, f := range config.Faults {
		keys = append(keys, f.Key)
	}
	want := []string{
		"brokers", "topics", "topics", "isolation", "on_data_loss", "start", "start", "start",
		"tls.enabled", "sasl.username", "sasl.mechanism",
	}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Errorf("faults (-want +got):\n%s\n%v", diff, err)
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the error shows the password: %v", err)
	}
}

func TestSettingsThatContradict(t *testing.T) {
	base := func(change func(*Config)) Config {
		c := Config{Brokers: []string{"localhost:9092"}, Topics: []string{"a"}}
		change(&c)
		return c
	}
	tests := []struct {
		name   string
		config Config
		want   string // "" means fine
	}{
		{"least", base(func(*Config) {}), ""},
		{"no brokers", Config{Topics: []string{"a"}}, "brokers"},
		{"no topics", Config{Brokers: []string{"localhost:9092"}}, "topics"},
		{"PLAIN in the open", base(func(c *Config) { c.SASL = &SASL{Mechanism: "PLAIN", Username: "u", Password: "p"} }), "shows the password"},
		{"PLAIN in the open, asked for", base(func(c *Config) {
			c.SASL = &SASL{Mechanism: "plain", Username: "u", Password: "p", AllowUnencrypted: true}
		}), ""},
		{"SCRAM without a password", base(func(c *Config) { c.SASL = &SASL{Mechanism: ScramSHA512, Username: "u"} }), "sasl.password"},
		{"a certificate without its key", base(func(c *Config) { c.TLS = TLS{Enabled: true, CertFile: "c.pem"} }), "tls.cert_file"},
		{"a CA that is not there", base(func(c *Config) { c.TLS = TLS{Enabled: true, CAFile: "testdata/none.pem"} }), "tls.ca"},
		{"insecure, with something to verify", base(func(c *Config) { c.TLS = TLS{Enabled: true, Insecure: true, ServerName: "x"} }), "tls.insecure"},
		{"a time without start at a time", base(func(c *Config) { c.Start.Time = time.Unix(1, 0) }), "start"},
		{"start at a time without one", base(func(c *Config) { c.Start.At = StartTime }), "start"},
		{"negative limits", base(func(c *Config) { c.FetchMaxBytes = -1 }), "fetch_max_bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.config.Validate()
			if (tt.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Validate: %v, want %q", err, tt.want)
			}
		})
	}
}

func TestNoEncodingShowsASecret(t *testing.T) {
	config := Config{SASL: &SASL{Username: "u", Password: "hunter2"}}
	encoded, err := json.Marshal(config.SASL)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		fmt.Sprint(config.SASL.Password), fmt.Sprintf("%s %q %x %#v", config.SASL.Password, config.SASL.Password, config.SASL.Password, config.SASL.Password),
		fmt.Sprintf("%+v", *config.SASL), fmt.Sprintf("%#v", *config.SASL), string(encoded),
	} {
		if strings.Contains(text, "hunter2") || strings.Contains(text, fmt.Sprintf("%x", "hunter2")) {
			t.Errorf("the password shows: %s", text)
		}
	}
}

func TestParseStart(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want Start
	}{
		{"earliest", Start{At: StartEarliest}},
		{"LATEST", Start{At: StartLatest}},
		{"2026-01-31T08:00:00.5+01:00", Start{At: StartTime, Time: time.Date(2026, 1, 31, 7, 0, 0, 5e8, time.UTC)}},
	} {
		got, err := ParseStart(tt.in)
		if err != nil || got.At != tt.want.At || !got.Time.Equal(tt.want.Time) {
			t.Errorf("ParseStart(%q) = %v, %v; want %v", tt.in, got, err, tt.want)
		}
	}
	if got, err := ParseStart("yesterday"); err == nil {
		t.Errorf("ParseStart(yesterday) = %v, want an error", got)
	}
}
