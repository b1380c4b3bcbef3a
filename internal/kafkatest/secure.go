package kafkatest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

// PlainUser and PlainPassword are known to the secure listener's mechanism PLAIN.
const (
	PlainUser     = "bob"
	PlainPassword = "bob-secret"
)

// properties are the broker's settings for its listeners.
func (n *Node) properties(controller string) string {
	const login = "org.apache.kafka.common.security."
	return fmt.Sprintf(`listeners=PLAINTEXT://%[1]s,SECURE://%[2]s,CONTROLLER://%[3]s,PROXIED://%[9]s
advertised.listeners=PLAINTEXT://%[1]s,SECURE://%[2]s,PROXIED://%[10]s
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SECURE:SASL_SSL,CONTROLLER:PLAINTEXT,PROXIED:PLAINTEXT
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
listener.name.secure.scram-sha-256.sasl.jaas.config=%[4]sscram.ScramLoginModule required;
listener.name.secure.scram-sha-512.sasl.jaas.config=%[4]sscram.ScramLoginModule required;
listener.name.secure.plain.sasl.jaas.config=%[4]splain.PlainLoginModule required user_%[5]s="%[6]s";
ssl.keystore.type=PEM
ssl.keystore.location=%[7]s
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
listener.name.secure.connections.max.reauth.ms=%[8]d
super.users=User:ANONYMOUS`, n.Addrs[0], n.Secure, controller, login, PlainUser, PlainPassword, filepath.Join(n.data, "server.pem"),
		loginLife.Milliseconds(), n.Behind, n.Via)
}

// loginLife is how long a login to the secure listener counts, so that a changed password is noticed soon.
const loginLife = 5 * time.Second

// Certificate writes a certificate for the loopback address, which signs itself and serves either side: caFile holds it
// alone, pairFile with its key.
func Certificate(tb testing.TB) (caFile, pairFile string) {
	tb.Helper()
	dir := tb.TempDir()
	caFile, err := certify(dir)
	if err != nil {
		tb.Fatalf("make a certificate: %v", err)
	}
	return caFile, filepath.Join(dir, "server.pem")
}

// certify writes a self-signed certificate for the loopback address, and its key, into data.
func certify(data string) (caFile string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "localhost"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(certificateLife),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		DNSNames:              []string{"localhost"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return "", err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", err
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	both := append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), certificate...)
	if err := os.WriteFile(filepath.Join(data, "server.pem"), both, 0o600); err != nil {
		return "", err
	}
	caFile = filepath.Join(data, "ca.pem")
	return caFile, os.WriteFile(caFile, certificate, 0o600)
}

// User creates a SCRAM user.
func (n *Node) User(tb testing.TB, mechanism kadm.ScramMechanism, name, password string) {
	tb.Helper()
	resp, err := n.admin(tb).AlterUserSCRAMs(within(tb), nil, []kadm.UpsertSCRAM{
		{User: name, Mechanism: mechanism, Iterations: 4096, Password: password},
	})
	if err == nil {
		err = resp.Error()
	}
	if err != nil {
		tb.Fatalf("create user %s: %v", name, err)
	}
}

// Allow lets a user read a topic, and commit offsets to any group.
func (n *Node) Allow(tb testing.TB, user, topic string) {
	tb.Helper()
	acls := kadm.NewACLs().Allow("User:"+user).AllowHosts("*").Topics(topic).Groups("*").
		Operations(kadm.OpRead, kadm.OpDescribe).ResourcePatternType(kadm.ACLPatternLiteral)
	resp, err := n.admin(tb).CreateACLs(within(tb), acls)
	if err != nil {
		tb.Fatalf("allow %s to read %s: %v", user, topic, err)
	}
	for _, r := range resp {
		if r.Err != nil {
			tb.Fatalf("allow %s to read %s: %v", user, topic, r.Err)
		}
	}
}
