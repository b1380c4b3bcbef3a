package pipeline

import (
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

func (r *reader) kafka(v value, pipeline string) *Kafka {
	out := &Kafka{
		Start: Start{Kind: StartEarliest}, Isolation: ReadCommitted, OnDataLoss: DataLossFail,
		ClientID: "sluice-" + pipeline, Group: "sluice-" + pipeline,
	}
	fields, ok := r.section(v, "source.kafka")
	if !ok {
		return out
	}
	if b, ok := r.need(fields, v, "brokers", "[localhost:9092]"); ok {
		out.Brokers = r.brokers(b)
	}
	if t, ok := r.need(fields, v, "topics", "[my_topic]"); ok {
		out.Topics = r.topics(t)
	}
	if s, ok := fields["start"]; ok {
		r.start(&out.Start, s, out.Topics)
	}
	if i, ok := fields["isolation"]; ok {
		oneOf(r, i, &out.Isolation, ReadCommitted, ReadUncommitted)
	}
	if d, ok := fields["on_data_loss"]; ok {
		oneOf(r, d, &out.OnDataLoss, DataLossFail, DataLossSkip)
	}
	if t, ok := fields["tls"]; ok {
		out.TLS = r.tls(t)
	}
	if s, ok := fields["sasl"]; ok {
		out.SASL = r.sasl(s, out.TLS != nil)
	}
	if c, ok := fields["client_id"]; ok {
		out.ClientID, _ = r.str(c, "sluice-my-pipeline")
	}
	if g, ok := fields["group"]; ok {
		out.Group, _ = r.str(g, "sluice-my-pipeline")
	}
	return out
}

func (r *reader) brokers(v value) []string {
	items, _ := r.list(v, "[localhost:9092]")
	var out []string
	for _, item := range items {
		s, ok := r.textScalar(item, "localhost:9092")
		if !ok {
			continue
		}
		host, port, err := net.SplitHostPort(s.text)
		n, portErr := strconv.ParseUint(port, 10, 16)
		if err != nil || host == "" || portErr != nil || n == 0 || strings.ContainsAny(host, "/@ ") {
			r.fault(item, s.shown()+" is not a broker's host and port", "write host:port, such as localhost:9092")
			continue
		}
		out = append(out, s.text)
	}
	return out
}

func (r *reader) topics(v value) []string {
	items, _ := r.list(v, "[my_topic]")
	legal := regexp.MustCompile(`^[A-Za-z0-9._-]{1,249}$`)
	var out []string
	for _, item := range items {
		s, ok := r.textScalar(item, "my_topic")
		switch {
		case !ok:
		case !legal.MatchString(s.text) || s.text == "." || s.text == "..":
			r.fault(item, s.shown()+" is not a topic's name", "write at most 249 letters, digits, '.', '_' and '-'; patterns are not read")
		case slices.Contains(out, s.text):
			r.fault(item, s.shown()+" is in the list already", "keep one of them")
		default:
			out = append(out, s.text)
		}
	}
	return out
}

const startForms = `write earliest, latest, a time such as 2026-01-31T08:00:00Z, or offsets such as {"my_topic/0": 123}`

func (r *reader) start(out *Start, v value, topics []string) {
	if isMapping(v) {
		r.startOffsets(out, v, topics)
		return
	}
	s, ok := r.textScalar(v, string(StartEarliest))
	if !ok {
		return
	}
	switch kind := StartKind(s.text); kind {
	case StartEarliest, StartLatest:
		out.Kind = kind
		return
	}
	t, err := time.Parse(time.RFC3339Nano, s.text)
	if err != nil {
		r.fault(v, s.shown()+" is not a start", startForms)
		return
	}
	out.Kind, out.Time = StartTime, t.UTC()
}

func (r *reader) startOffsets(out *Start, v value, topics []string) {
	pairs, _ := r.pairs(v, `offsets such as {"my_topic/0": 123}`)
	if len(v.node.Content) == 0 {
		r.fault(v, "is an empty mapping", startForms)
	}
	out.Kind, out.Offsets = StartOffsets, map[string]int64{}
	for _, p := range pairs {
		at := value{p.value.path, p.keyNode}
		topic, partition, _ := strings.Cut(p.key, "/")
		n, err := strconv.ParseInt(partition, 10, 32)
		if err != nil || n < 0 || strconv.FormatInt(n, 10) != partition {
			r.fault(at, fmt.Sprintf("%q is not a partition", p.key), `write topic/number, such as "my_topic/0"`)
			continue
		}
		if len(topics) > 0 && !slices.Contains(topics, topic) {
			r.fault(at, fmt.Sprintf("topic %q is not in topics", topic), "add it to topics, or delete this offset")
		}
		if offset, ok := r.integer(p.value, 0, "123"); ok {
			out.Offsets[p.key] = offset
		}
	}
}

// tls reads a boolean, or a mapping of what differs from the system's trust.
func (r *reader) tls(v value) *TLS {
	if v.node.Kind == yaml.ScalarNode {
		if on, ok := r.boolean(v); !ok || !on {
			return nil
		}
		return &TLS{}
	}
	fields, ok := r.section(v, "source.kafka.tls")
	if !ok {
		return nil
	}
	out := &TLS{}
	pem := func(dst *string, key string) {
		if p, ok := fields[key]; ok {
			*dst, _ = r.path(p, "tls/"+key+".pem")
		}
	}
	pem(&out.CA, "ca")
	pem(&out.Cert, "cert")
	pem(&out.Key, "key")
	if s, ok := fields["server_name"]; ok {
		out.ServerName, _ = r.str(s, "kafka.example.com")
	}
	for _, keys := range [][2]string{{"cert", "key"}, {"key", "cert"}} {
		if has, ok := fields[keys[0]]; ok && fields[keys[1]].node == nil {
			r.fault(has, "needs "+keys[1]+" beside it", fmt.Sprintf("write %s: tls/%s.pem too", keys[1], keys[1]))
		}
	}
	return out
}

func (r *reader) sasl(v value, isEncrypted bool) *SASL {
	fields, ok := r.section(v, "source.kafka.sasl")
	if !ok {
		return nil
	}
	out := &SASL{}
	if m, ok := r.need(fields, v, "mechanism", "SCRAM-SHA-512"); ok {
		oneOf(r, m, &out.Mechanism, "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
	}
	if u, ok := r.need(fields, v, "username", `"${KAFKA_USERNAME}"`); ok {
		out.Username, _ = r.str(u, `"${KAFKA_USERNAME}"`)
	}
	if p, ok := r.need(fields, v, "password", `"${KAFKA_PASSWORD}"`); ok {
		out.Password, _ = r.secret(p)
	}
	if a, ok := fields["allow_unencrypted"]; ok {
		out.AllowUnencrypted, _ = r.boolean(a)
	}
	if out.Mechanism == "PLAIN" && !isEncrypted && !out.AllowUnencrypted {
		r.fault(fields["mechanism"], "PLAIN would send the password in clear text, since there is no tls",
			"write tls: true beside sasl, a SCRAM mechanism, or allow_unencrypted: true where the network is trusted")
	}
	return out
}
