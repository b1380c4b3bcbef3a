package kafka

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strings"

	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// Secret is a value that no format verb shows.
type Secret string

// Format writes a placeholder, whatever the verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("[secret]")) }

// MarshalText gives the placeholder, so that no encoder shows the value either.
func (Secret) MarshalText() ([]byte, error) { return []byte("[secret]"), nil }

// TLS is how connections are encrypted. The zero value is plain text.
type TLS struct {
	Enabled    bool
	CAFile     string // PEM; default the system's authorities
	CertFile   string // PEM, the client's certificate; with KeyFile
	KeyFile    string // PEM
	ServerName string // name to verify instead of the broker's host
	// Insecure accepts any certificate of the broker.
	Insecure bool
}

// config is nil without TLS, and when faults were found.
func (t TLS) config(found *faults) *tls.Config {
	if !t.Enabled {
		if t != (TLS{}) {
			found.add("tls.enabled", "is false although other tls settings are given; write true, or remove them")
		}
		return nil
	}
	before := len(*found)
	config := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         t.ServerName,
		InsecureSkipVerify: t.Insecure, //nolint:gosec // asked for by name
		RootCAs:            t.authorities(found),
		Certificates:       t.certificates(found),
	}
	if t.Insecure && (t.CAFile != "" || t.ServerName != "") {
		found.add("tls.insecure", "contradicts ca and server_name, which it would not look at")
	}
	if len(*found) > before {
		return nil
	}
	return config
}

func (t TLS) authorities(found *faults) *x509.CertPool {
	if t.CAFile == "" {
		return nil
	}
	pem, err := os.ReadFile(t.CAFile)
	if err != nil {
		found.add("tls.ca", "%v", err)
		return nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		found.add("tls.ca", "%s holds no PEM certificate", t.CAFile)
		return nil
	}
	return pool
}

func (t TLS) certificates(found *faults) []tls.Certificate {
	if t.CertFile == "" && t.KeyFile == "" {
		return nil
	}
	if t.CertFile == "" || t.KeyFile == "" {
		found.add("tls.cert_file", "and key_file belong together; one is missing")
		return nil
	}
	pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
	if err != nil {
		found.add("tls.cert_file", "read the client's certificate and key: %v", err)
		return nil
	}
	return []tls.Certificate{pair}
}

// The SASL mechanisms, as Kafka names them.
const (
	Plain       = "PLAIN"
	ScramSHA256 = "SCRAM-SHA-256"
	ScramSHA512 = "SCRAM-SHA-512"
)

// SASL is how the client says who it is.
type SASL struct {
	Mechanism string // PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512
	Username  string
	Password  Secret
	// AllowUnencrypted lets PLAIN send the password over connections without TLS.
	AllowUnencrypted bool
}

// mechanism is nil without SASL, and when faults were found.
func (s *SASL) mechanism(encrypted bool, found *faults) sasl.Mechanism {
	if s == nil {
		return nil
	}
	before := len(*found)
	if s.Username == "" {
		found.add("sasl.username", "is missing")
	}
	if s.Password == "" {
		found.add("sasl.password", "is missing or empty; is the environment variable set?")
	}
	name := strings.ToUpper(s.Mechanism)
	switch name {
	case Plain:
		if !encrypted && !s.AllowUnencrypted {
			found.add("sasl.mechanism", "PLAIN without TLS shows the password to the network; enable tls, use SCRAM-SHA-512, or set allow_unencrypted: true")
		}
	case ScramSHA256, ScramSHA512:
	default:
		found.add("sasl.mechanism", "%q is not known; write %s, %s or %s", s.Mechanism, Plain, ScramSHA256, ScramSHA512)
	}
	if len(*found) > before {
		return nil
	}
	switch name {
	case ScramSHA256:
		return scram.Auth{User: s.Username, Pass: string(s.Password)}.AsSha256Mechanism()
	case ScramSHA512:
		return scram.Auth{User: s.Username, Pass: string(s.Password)}.AsSha512Mechanism()
	default:
		return plain.Auth{User: s.Username, Pass: string(s.Password)}.AsMechanism()
	}
}
