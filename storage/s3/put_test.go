package s3_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/sluicedata/sluice/internal/s3test"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/retry"
	"github.com/sluicedata/sluice/storage/s3"
)

func strangers() aws.CredentialsProvider {
	return credentials.NewStaticCredentialsProvider(s3test.AccessKey, "wrong", "")
}

func TestPutHasThreeAnswers(t *testing.T) {
	answers := map[string]struct {
		status int
		code   string
		want   storage.Outcome
		cause  string // for a passing error
	}{
		"success":            {200, "", storage.Stored, ""},
		"precondition":       {412, "PreconditionFailed", storage.Exists, ""},
		"conflict":           {409, "ConditionalRequestConflict", storage.Unknown, s3.CauseConflict},
		"internal error":     {500, "InternalError", storage.Unknown, s3.CauseServer},
		"slow down":          {503, "SlowDown", storage.Unknown, s3.CauseThrottled},
		"too many requests":  {429, "TooManyRequests", storage.Unknown, s3.CauseThrottled},
		"gateway timed out":  {504, "", storage.Unknown, s3.CauseServer},
		"request timed out":  {400, "RequestTimeout", storage.Unknown, s3.CauseStalled},
		"damaged":            {400, "BadDigest", storage.Unknown, s3.CauseDamaged},
		"access denied":      {403, "AccessDenied", storage.Unknown, ""},
		"connection dropped": {0, "", storage.Unknown, s3.CauseConnection},
	}
	for name, a := range answers {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				if r.Header.Get("If-None-Match") != "*" || r.Header.Get("X-Amz-Checksum-Crc32c") == "" {
					t.Errorf("headers: %v", r.Header)
				}
				if a.status == 0 {
					panic(http.ErrAbortHandler)
				}
				w.Header().Set("X-Amz-Request-Id", "R1")
				w.WriteHeader(a.status)
				if a.code != "" {
					fmt.Fprintf(w, "<Error><Code>%s</Code><Message>m</Message></Error>", a.code)
				}
			}))
			defer server.Close()
			o := options(server.URL)
			var made, causes []string
			o.Requested = func(operation string) { made = append(made, operation) }
			o.Retry.Failed = func(err error) { causes = append(causes, s3.Cause(err)) }
			client, raw := open(t, o, "bucket", "")
			outcome, err := client.Retrier().Wrap(raw).PutIfAbsent(t.Context(), "k", []byte("x"))
			if outcome != a.want || (err == nil) != (a.want != storage.Unknown) {
				t.Errorf("%v, %v; want %v", outcome, err, a.want)
			}
			if n := requests.Load(); n != 1 {
				t.Errorf("%d requests: a conditional put was made again", n)
			}
			if !slices.Equal(made, []string{"PutObject"}) {
				t.Errorf("counted %v", made)
			}
			if strings.Join(causes, " ") != a.cause {
				t.Errorf("causes %v, want %s", causes, a.cause)
			}
			if a.code != "" && err != nil && !strings.Contains(err.Error(), "put k: "+fmt.Sprint(a.status)+" "+a.code) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestProbeAcceptsAStoreWithConditionalPuts(t *testing.T) {
	server := s3test.Start(t)
	_, store := open(t, options(server.URL), server.Bucket(t, "bucket"), "lake")
	if err := store.ConditionalPuts(t.Context()); err != nil {
		t.Fatal(err)
	}
	if keys := listed(t, store); len(keys) != 0 {
		t.Errorf("left behind: %v", keys)
	}
}

func TestProbeRefusesAStoreThatIgnoresTheCondition(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"overwrites": func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusOK) },
		"cannot": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusNotImplemented)
			fmt.Fprint(w, "<Error><Code>NotImplemented</Code><Message>A header you provided implies functionality that is not implemented</Message></Error>")
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(handler)
			defer server.Close()
			_, store := open(t, options(server.URL), "bucket", "lake")
			err := store.ConditionalPuts(t.Context())
			var refused *s3.NotConditionalError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), server.URL) || !strings.Contains(err.Error(), "s3://bucket/lake") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestProbeSurvivesLostAnswers(t *testing.T) {
	server := s3test.Start(t)
	proxy := s3test.NewProxy(t, server)
	_, store := open(t, options(proxy.URL), server.Bucket(t, "bucket"), "lake")
	for _, fault := range []s3test.Fault{s3test.Drop, s3test.ResetAfter, s3test.ErrorAfter, s3test.Refuse} {
		n := 0
		proxy.Harm(func(r *http.Request) s3test.Fault {
			if n++; r.Method == http.MethodPut && n == 1 {
				return fault
			}
			return s3test.None
		})
		if err := store.ConditionalPuts(t.Context()); err != nil {
			t.Errorf("fault %d: %v", fault, err)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for name, o := range map[string]s3.Options{
		"encryption": {SSE: "rot13"}, "key without kms": {SSE: s3.SSES3, KMSKeyID: "k"}, "endpoint": {Endpoint: "localhost:9000"}, "parts": {PartBytes: 1000},
	} {
		if _, err := s3.New(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestParseURL(t *testing.T) {
	for in, want := range map[string][2]string{
		"s3://b": {"b", ""}, "s3://b/": {"b", ""}, "s3://b/p/q": {"b", "p/q"}, "s3://b/p/": {"b", "p"},
	} {
		bucket, prefix, err := s3.ParseURL(in)
		if err != nil || bucket != want[0] || prefix != want[1] {
			t.Errorf("ParseURL(%q) = %q, %q, %v", in, bucket, prefix, err)
		}
	}
	for _, in := range []string{"", "b/p", "s3://", "s3:///p", "s3://b//p", "s3://b/../p"} {
		if _, _, err := s3.ParseURL(in); err == nil {
			t.Errorf("ParseURL(%q): no error", in)
		}
	}
}

func TestClassify(t *testing.T) {
	for err, want := range map[*s3.Error]retry.Class{
		{Status: 503, Code: "SlowDown"}:                   retry.Throttled,
		{Status: 429}:                                     retry.Throttled,
		{Status: 500, Code: "InternalError"}:              retry.Transient,
		{Status: 502}:                                     retry.Transient,
		{Status: 400, Code: "RequestTimeout"}:             retry.Transient,
		{Status: 400, Code: "BadDigest"}:                  retry.Transient,
		{Status: 409, Code: "ConditionalRequestConflict"}: retry.Transient,
		{Status: 409, Code: "ExistingObjectIsDirectory"}:  retry.Transient, // versitygw's, while a folder is being removed
		{Status: 501, Code: "NotImplemented"}:             retry.Final,
		{Status: 403, Code: "AccessDenied"}:               retry.Final,
		{Status: 404, Code: "NoSuchKey"}:                  retry.Final,
		{Status: 412, Code: "PreconditionFailed"}:         retry.Final,
	} {
		if got := s3.Classify(&storage.Error{Op: "get", Key: "k", Err: err}); got != want {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
	}
}

func TestThrottledServerIsNotFailedByManyAtOnce(t *testing.T) {
	server := s3test.Start(t, "--max-requests", "4")
	o := options(server.URL)
	o.Retry = retry.Policy{First: 20 * time.Millisecond, Longest: time.Second, Attempts: 50}
	client, raw := open(t, o, server.Bucket(t, "bucket"), "lake")
	store := client.Retrier().Wrap(raw)
	if _, err := raw.PutIfAbsent(t.Context(), "k", []byte("x")); err != nil {
		t.Fatal(err)
	}
	failures := make(chan error, 64)
	for range cap(failures) {
		go func() {
			_, err := store.Get(t.Context(), "k")
			failures <- err
		}()
	}
	for range cap(failures) {
		if err := <-failures; err != nil {
			t.Error(err)
		}
	}
}
