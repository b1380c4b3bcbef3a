package kafka

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicedata/sluice/offsetlog"
)

// RecreatedError says that a topic was deleted and created again, so that its offsets mean other records than those that
// the pipeline's positions mean.
type RecreatedError struct {
	Topic string
	Known string // id of the topic that the plans name
	Found string // id of the topic that the cluster has
}

func (e *RecreatedError) Error() string {
	return fmt.Sprintf("topic %s was deleted and created again: the plans name topic id %s, the cluster has %s; %s", e.Topic, e.Known, e.Found, e.Remedy())
}

// Remedy is what to do about it.
func (e *RecreatedError) Remedy() string {
	return "run with --topic-recreated from-earliest to read the new topic from its beginning"
}

// DataLostError says that the brokers no longer have offsets that were to be read.
type DataLostError struct {
	Gaps []offsetlog.Range // each [from, to) that is gone, marked Lost
}

func (e *DataLostError) Error() string {
	gaps := make([]string, len(e.Gaps))
	for i, g := range e.Gaps {
		gaps[i] = fmt.Sprintf("%s [%d, %d)", g.Partition, g.From, g.To)
	}
	return fmt.Sprintf("the brokers no longer have offsets that were not read yet: %s; they were deleted by retention or by an administrator: %s",
		strings.Join(gaps, ", "), e.Remedy())
}

// Remedy is what to do about it.
func (e *DataLostError) Remedy() string {
	return "set on_data_loss: skip to go on behind them and have the gaps recorded"
}

// TruncatedError says that a partition ends before a position that was already planned: its log lost records at the end.
type TruncatedError struct {
	Partition string
	Position  int64 // where the pipeline is
	End       int64 // high watermark
}

func (e *TruncatedError) Error() string {
	return fmt.Sprintf("%s ends at offset %d, before position %d: its log was cut (unclean leader election, or a restored "+
		"cluster), and what is written there next would be missed; %s", e.Partition, e.End, e.Position, e.Remedy())
}

// Remedy is what to do about it.
func (e *TruncatedError) Remedy() string {
	return "find out which records are gone, then read on under a new pipeline name with start offsets"
}

// DeletedError says that a topic or partition that was read does not exist any more.
type DeletedError struct {
	Name string // "orders" or "orders/3"
}

func (e *DeletedError) Error() string {
	return fmt.Sprintf("%s %s does not exist on the cluster any more: it was deleted after it had been planned or read, and what it held "+
		"behind the position is gone; %s", kindOf(e.Name), e.Name, e.Remedy())
}

// Remedy is what to do about it.
func (e *DeletedError) Remedy() string {
	return "take it out of topics, or, once it is created again, run with --topic-recreated from-earliest"
}

// kindOf tells a topic's name from a partition's.
func kindOf(name string) string {
	if strings.Contains(name, "/") {
		return "partition"
	}
	return "topic"
}

// MissingError says that a topic or partition that is to be read does not exist.
type MissingError struct {
	Name string // "orders" or "orders/3"
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s %s does not exist on the cluster; %s", kindOf(e.Name), e.Name, e.Remedy())
}

// Remedy is what to do about it.
func (e *MissingError) Remedy() string { return "create it, or correct topics and start" }

// StalledError says what keeps a partition from being read on for now: an open transaction, or a leader that is behind.
type StalledError struct{ Problem string }

func (e *StalledError) Error() string { return e.Problem }

// RequestError is that of a request to the cluster which did not succeed.
type RequestError struct {
	What    string // was asked for
	Address string // of the cluster
	Err     error
	Waiting bool // the request is being made again
}

func (e *RequestError) Error() string {
	text := fmt.Sprintf("%s: Kafka at %s: %v", e.What, e.Address, e.Err)
	if !e.Waiting {
		text += "; " + e.Remedy()
	}
	return text
}

func (e *RequestError) Unwrap() error { return e.Err }

// Passes says whether the same request may succeed later, with nothing changed here.
func (e *RequestError) Passes() bool { return waitable(e.Err) && !wrongListener(e.Err) }

// Remedy is what to do about it.
func (e *RequestError) Remedy() string {
	var header tls.RecordHeaderError
	switch err := e.Err; {
	case errors.Is(err, kerr.SaslAuthenticationFailed):
		return "check sasl.username, sasl.password and sasl.mechanism"
	case errors.Is(err, kerr.UnsupportedSaslMechanism):
		return "the broker does not offer this sasl.mechanism"
	case errors.Is(err, kerr.TopicAuthorizationFailed):
		return "grant this user the operations Read and Describe on the topic"
	case errors.Is(err, kerr.GroupAuthorizationFailed):
		return "grant this user the operation Read on the group"
	case errors.As(err, &header):
		return "the broker does not speak TLS on this port: check brokers, and leave tls out"
	case untrusted(err):
		return "check tls.ca, tls.server_name and the client's certificate"
	case wrongListener(err):
		return "check that tls and sasl are set as the listener on this port wants them"
	}
	return "check brokers, and that they can be reached from here"
}

// Denied says whether the cluster does not let this user in, or at what was asked for, or the two sides do not trust each
// other.
func (e *RequestError) Denied() bool {
	for _, code := range []error{kerr.SaslAuthenticationFailed, kerr.UnsupportedSaslMechanism, kerr.TopicAuthorizationFailed, kerr.GroupAuthorizationFailed, kerr.ClusterAuthorizationFailed} {
		if errors.Is(e.Err, code) {
			return true
		}
	}
	return untrusted(e.Err)
}

// Cause says why a request that is made again has failed: the name of the broker's error code, or "connection".
func Cause(err error) string {
	var code *kerr.Error
	if errors.As(err, &code) {
		return code.Message
	}
	return "connection"
}

// waitable says whether the same request may succeed later.
func waitable(err error) bool {
	var code *kerr.Error
	switch {
	case errors.As(err, &code):
		return code.Retriable || errors.Is(code, kerr.UnknownServerError)
	case errors.Is(err, kgo.ErrClientClosed), untrusted(err), permanent(err):
		return false
	}
	return true
}

// permanent says whether the error is a finding of this package, which no further attempt changes.
func permanent(err error) bool {
	var (
		recreated *RecreatedError
		lost      *DataLostError
		truncated *TruncatedError
		deleted   *DeletedError
		missing   *MissingError
		corrupt   *corruptError
	)
	return errors.As(err, &recreated) || errors.As(err, &lost) || errors.As(err, &truncated) ||
		errors.As(err, &deleted) || errors.As(err, &missing) || errors.As(err, &corrupt)
}

// untrusted says whether the two sides could not agree on TLS.
func untrusted(err error) bool {
	var (
		verification *tls.CertificateVerificationError
		authority    x509.UnknownAuthorityError
		hostname     x509.HostnameError
		invalid      x509.CertificateInvalidError
		header       tls.RecordHeaderError
		alert        *net.OpError // how crypto/tls wraps what the other side objects to
	)
	if errors.As(err, &alert) && alert.Op == "remote error" {
		return true
	}
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &hostname) ||
		errors.As(err, &invalid) || errors.As(err, &header)
}

// wrongListener says whether the other side hung up on, or answered something else than Kafka to, the first request. The
// client has no type for the latter.
func wrongListener(err error) bool {
	var eof *kgo.ErrFirstReadEOF
	return errors.As(err, &eof) || strings.Contains(err.Error(), "invalid large response size")
}

// corruptError says that a batch's bytes could not be read.
type corruptError struct {
	partition partition
	offset    int64
	cause     error
}

func (e *corruptError) Error() string {
	return fmt.Sprintf("read %s at offset %d: the broker's batch is damaged: %v; "+
		"check the broker's disk and log, or have the batch removed there (kafka-delete-records)", e.partition, e.offset, e.cause)
}

func (e *corruptError) Unwrap() error { return e.cause }
