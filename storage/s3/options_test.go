package s3_test

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/s3"
)

// TestOptionsReachTheService looks at the requests that a TLS server with a certificate of its own gets.
func TestOptionsReachTheService(t *testing.T) {
	seen := map[string]http.Header{}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		name := r.Method
		switch {
		case r.URL.Query().Has("uploads"):
			name = "create"
			fmt.Fprint(w, "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>")
		case r.URL.Query().Has("partNumber"):
			name = "part"
		case r.URL.Query().Has("uploadId"):
			name = "complete"
			fmt.Fprint(w, "<CompleteMultipartUploadResult></CompleteMultipartUploadResult>")
		}
		seen[name] = r.Header.Clone()
		seen[name].Set("Path", r.URL.Path)
	}))
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o666); err != nil {
		t.Fatal(err)
	}
	o := options(server.URL)
	o.CAFile, o.SSE, o.KMSKeyID, o.RequestPayer, o.Version, o.Concurrency = ca, s3.SSEKMS, "alias/lake", true, "1.2.3", 1
	_, store := open(t, o, "bucket", "lake")
	if _, err := store.PutIfAbsent(t.Context(), "k", []byte("x")); err != nil {
		t.Fatal(err)
	}
	w, err := store.Stage(t.Context(), "big")
	if err != nil {
		t.Fatal(err)
	}
	write(t, w, big()[:6<<20])
	if err := w.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	for request, headers := range map[string]map[string]string{
		"PUT": {
			"X-Amz-Server-Side-Encryption": "aws:kms", "X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id": "alias/lake",
			"X-Amz-Request-Payer": "requester", "If-None-Match": "*", "Path": "/bucket/lake/k",
		},
		"create": {
			"X-Amz-Server-Side-Encryption": "aws:kms", "X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id": "alias/lake",
			"X-Amz-Request-Payer": "requester", "X-Amz-Checksum-Type": "FULL_OBJECT", "X-Amz-Checksum-Algorithm": "CRC32C",
		},
		"part":     {"X-Amz-Request-Payer": "requester"},
		"complete": {"X-Amz-Request-Payer": "requester", "If-None-Match": "*", "X-Amz-Checksum-Type": "FULL_OBJECT"},
	} {
		for name, want := range headers {
			if got := seen[request].Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", request, name, got, want)
			}
		}
		for _, name := range []string{"X-Amz-Checksum-Crc32c"} {
			if request != "create" && seen[request].Get(name) == "" {
				t.Errorf("%s: no %s", request, name)
			}
		}
		if !strings.Contains(seen[request].Get("User-Agent"), "sluice/1.2.3") {
			t.Errorf("%s: user agent %q", request, seen[request].Get("User-Agent"))
		}
	}
}

func TestUntrustedCertificateIsNotTriedAgain(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	o := options(server.URL)
	o.Retry.First, o.Retry.Longest = time.Hour, time.Hour
	client, raw := open(t, o, "bucket", "")
	_, err := client.Retrier().Wrap(raw).Get(t.Context(), "k")
	if err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("%v", err)
	}
}

// renewing gives new credentials each time it is asked.
type renewing struct{ asked atomic.Int32 }

func (r *renewing) Retrieve(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: fmt.Sprintf("key%d", r.asked.Add(1)), SecretAccessKey: "s"}, nil
}

func TestExpiredCredentialsAreRenewed(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Header.Get("Authorization"), "key1/") {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, "<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>")
			return
		}
		fmt.Fprint(w, "content")
	}))
	defer server.Close()
	o := options(server.URL)
	o.Credentials = &renewing{}
	client, raw := open(t, o, "bucket", "")
	if got, err := client.Retrier().Wrap(raw).Get(t.Context(), "k"); err != nil || string(got) != "content" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestListedKeysThatNoStoreCanHoldAreErrorsAndFoldersAreNot(t *testing.T) {
	page := func(keys ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>false</IsTruncated>")
			for _, key := range keys {
				fmt.Fprintf(w, "<Contents><Key>%s</Key><Size>1</Size></Contents>", key)
			}
			fmt.Fprint(w, "</ListBucketResult>")
		}
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    []string
		fault   string
	}{
		"folders":     {page("in/", "in/a/", "in/a/b+c%2Bd%0A"), []string{"a/b c+d\n"}, ""},
		"empty names": {page("in/a//b"), nil, "another name"},
		"not below":   {page("other/a"), nil, "not below"},
		"no such page": {func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>")
		}, nil, "not where"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(c.handler)
			defer server.Close()
			_, store := open(t, options(server.URL), "bucket", "in")
			var got []string
			err := store.List(t.Context(), "", "", func(i storage.Info) error { got = append(got, i.Key); return nil })
			if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", c.want) || (err != nil) != (c.fault != "") || err != nil && !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}
