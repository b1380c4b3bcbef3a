package s3

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/retry"
)

// Error is an answer of the service that is not success.
type Error struct {
	Status    int    // of HTTP
	Code      string // of S3, such as SlowDown; empty when the answer named none
	Message   string // the service's own words
	RequestID string // by which the service's operators find the request; may be empty
	Err       error  // storage.ErrNotExist for an object that is not there, else the SDK's error
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))
	if e.Code != "" {
		text = fmt.Sprintf("%d %s", e.Status, e.Code)
	}
	if e.Err == storage.ErrNotExist {
		return storage.ErrNotExist.Error() + " (" + text + e.request() + ")"
	}
	if e.Message != "" && e.Message != e.Code {
		text += ": " + strings.TrimSuffix(e.Message, ".")
	}
	if e.RequestID != "" {
		text += " (" + strings.TrimPrefix(e.request(), ", ") + ")"
	}
	if way := e.Remedy(); way != "" {
		text += "; " + way
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

func (e *Error) request() string {
	if e.RequestID == "" {
		return ""
	}
	return ", request " + e.RequestID
}

// Remedy is what to do about an error that does not pass; empty for others.
func (e *Error) Remedy() string {
	switch e.Code {
	case "RequestTimeTooSkewed":
		return "set this machine's clock"
	case "NoSuchBucket":
		return "make the bucket, or correct its name"
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken":
		return "check the AWS credentials of this process"
	case "AccessDenied", "AllAccessDisabled":
		return "allow this process's credentials s3:GetObject, PutObject, DeleteObject, ListBucket, ListBucketMultipartUploads and AbortMultipartUpload there"
	case "NotImplemented":
		return "this store cannot do what Sluice needs"
	}
	switch e.Status {
	case http.StatusMovedPermanently, http.StatusTemporaryRedirect:
		return "the bucket is in another region: set storage.region or AWS_REGION"
	case http.StatusForbidden:
		return "check the AWS credentials of this process and the bucket's policy"
	default:
		return ""
	}
}

// fail gives an error operation and key, and what the service said about it.
func (s *Store) fail(ctx context.Context, op, key string, err error) error {
	if cause := ctx.Err(); cause != nil {
		err = cause
	}
	var named *storage.Error
	if errors.As(err, &named) {
		return err
	}
	return &storage.Error{Op: op, Key: key, Err: explain(err)}
}

// explain turns an error of the SDK into one of this package: an Error if a server has answered, a damagedError if its answer
// was success and did not arrive as it was sent, else a connectionError if the request did not get through.
func explain(err error) error {
	var ours *Error
	var unsent *connectionError
	var damaged *damagedError
	var response *awshttp.ResponseError
	switch {
	case errors.As(err, &ours), errors.As(err, &unsent), errors.As(err, &damaged):
		return err
	case !errors.As(err, &response), response.Response == nil, response.HTTPStatusCode() == 0:
		return shortened(err)
	}
	out := &Error{Status: response.HTTPStatusCode(), RequestID: response.ServiceRequestID(), Err: err}
	if out.Status/100 == 2 {
		return &damagedError{fmt.Errorf("the answer (%d %s%s) cannot be read: %w", out.Status, http.StatusText(out.Status), out.request(), response.Err)}
	}
	var api smithy.APIError
	if errors.As(err, &api) {
		out.Code, out.Message = api.ErrorCode(), api.ErrorMessage()
	}
	if out.Status == http.StatusNotFound && (out.Code == "NoSuchKey" || out.Code == "NotFound" || out.Code == "") {
		out.Err = storage.ErrNotExist
	}
	return out
}

// shortened takes off the SDK's words around an error of which operation and key say enough.
func shortened(err error) error {
	var send *smithyhttp.RequestSendError
	var request *url.Error
	var operation *smithy.OperationError
	switch {
	case errors.As(err, &send) && errors.As(send.Err, &request):
		return &connectionError{request.Err}
	case errors.As(err, &send):
		return &connectionError{send.Err}
	case errors.As(err, &operation):
		return operation.Err
	default:
		return err
	}
}

// connectionError is a request without an answer: it may have been received, or not.
type connectionError struct{ err error }

func (e *connectionError) Error() string { return "no answer: " + e.err.Error() }

// Unwrap keeps the end of a connection from being taken for that of an object.
func (e *connectionError) Unwrap() error {
	if errors.Is(e.err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return e.err
}

func statusOf(err error) int {
	var e *Error
	if errors.As(explain(err), &e) {
		return e.Status
	}
	return 0
}

func codeOf(err error) string {
	var e *Error
	if errors.As(explain(err), &e) {
		return e.Code
	}
	return ""
}

// damagedError is a body that did not arrive as it was sent: cut short, stalled, or with another checksum.
type damagedError struct{ err error }

func (e *damagedError) Error() string { return e.err.Error() }
func (e *damagedError) Unwrap() error { return e.err }

// partError is that of a part which has been tried enough.
type partError struct{ err error }

func (e *partError) Error() string { return e.err.Error() }
func (e *partError) Unwrap() error { return e.err }

// classify is Classify, and has credentials that were refused as expired looked up again, wherever they come from: the
// next request reads the environment and its files as the first one did.
func (c *Client) classify(err error) retry.Class {
	var answer *Error
	if errors.As(explain(err), &answer) && answer.isExpired() {
		c.mu.Lock()
		c.api = nil
		c.mu.Unlock()
		return retry.Transient
	}
	return Classify(err)
}

// Passes says what an error means for a later run, however often it was tried in this one.
func Passes(err error) retry.Class {
	for tried := (*partError)(nil); errors.As(err, &tried); {
		err = tried.err
	}
	return Classify(err)
}

// Causes of errors that pass, as Cause tells them.
const (
	CauseThrottled   = "throttled"    // less was asked for: SlowDown and the like
	CauseServer      = "server_error" // a fault of the service's own, 5xx
	CauseConflict    = "conflict"     // another request for the same key was under way
	CauseCredentials = "credentials"  // had expired, and were looked up again
	CauseStalled     = "stalled"      // no byte moved, or no answer came in time
	CauseConnection  = "connection"   // refused, reset, or not made
	CauseDamaged     = "damaged"      // a body that did not arrive as it was sent
)

// Cause says why a request that is made again has failed.
func Cause(err error) string {
	var damaged *damagedError
	var answer *Error
	var timeout net.Error
	explained := explain(err)
	switch {
	case errors.As(explained, &answer):
		return answer.cause()
	case errors.As(err, &timeout) && timeout.Timeout():
		return CauseStalled
	case errors.As(err, &damaged):
		return CauseDamaged
	default:
		return CauseConnection
	}
}

func (e *Error) cause() string {
	switch {
	case e.class() == retry.Throttled:
		return CauseThrottled
	case e.isExpired():
		return CauseCredentials
	case e.Status == http.StatusConflict:
		return CauseConflict
	case e.Code == "RequestTimeout", e.Status == http.StatusRequestTimeout:
		return CauseStalled
	case e.Code == "BadDigest", strings.HasPrefix(e.Code, "XAmzContent"):
		return CauseDamaged
	default:
		return CauseServer
	}
}

func (e *Error) isExpired() bool {
	return e.Code == "ExpiredToken" || e.Code == "ExpiredTokenException"
}

// Classify tells which errors of this package's stores pass: those of connections, and of the service's own faults and
// limits.
func Classify(err error) retry.Class {
	var tried *partError
	if errors.Is(err, context.Canceled) || errors.As(err, &tried) {
		return retry.Final
	}
	var damaged *damagedError
	if errors.As(err, &damaged) {
		return retry.Transient
	}
	err = explain(err)
	var answer *Error
	if errors.As(err, &answer) {
		return answer.class()
	}
	var unsent *connectionError
	if !errors.As(err, &unsent) {
		return retry.Final
	}
	var certificate *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var record tls.RecordHeaderError
	if errors.As(err, &certificate) || errors.As(err, &authority) || errors.As(err, &record) {
		return retry.Final
	}
	return retry.Transient
}

func (e *Error) class() retry.Class {
	switch e.Code {
	case "SlowDown", "Throttling", "ThrottlingException", "RequestLimitExceeded", "TooManyRequests", "TooManyRequestsException", "BandwidthLimitExceeded":
		return retry.Throttled
	case "RequestTimeout", "BadDigest", "XAmzContentChecksumMismatch", "XAmzContentSHA256Mismatch", "InternalError":
		return retry.Transient
	case "NotImplemented":
		return retry.Final
	}
	switch {
	case e.Status == http.StatusServiceUnavailable, e.Status == http.StatusTooManyRequests:
		return retry.Throttled
	case e.Status >= 500, e.Status == http.StatusRequestTimeout, e.Status == http.StatusConflict:
		return retry.Transient
	default:
		return retry.Final
	}
}
