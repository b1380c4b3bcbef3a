package pipeline_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/sluicedata/sluice/internal/s3test"
	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/storage/s3"
)

// proxied is a cloud behind a proxy.
func proxied(t *testing.T, n, records int) (c *cloud, proxy *s3test.Proxy) {
	t.Helper()
	c = newCloud(t, n, records, func(s *s3test.Server) string {
		proxy = s3test.NewProxy(t, s)
		return proxy.URL
	})
	return c, proxy
}

func TestWrongClockIsSaidAtOnce(t *testing.T) {
	c, proxy := proxied(t, 2, 9)
	for at := int64(1); at < 30; at += 3 {
		w := c.world(t, fmt.Sprint("skew-", at), "on_error: skip\nbatch: {max_files: 1}\n")
		var n atomic.Int64
		proxy.Harm(func(*http.Request) s3test.Fault {
			if n.Add(1) < at {
				return s3test.None
			}
			return s3test.Skew
		})
		err := w.run(t.Context(), pipeline.BuildOptions{})
		proxy.Harm(nil)
		if err == nil || !strings.Contains(err.Error(), "403 RequestTimeTooSkewed") || !strings.Contains(err.Error(), "set this machine's clock") {
			t.Errorf("from request %d on: %v", at, err)
		}
		const atMost = 15 // with reading back what may have been put, and the record of the error
		if n.Load() > at+atMost {
			t.Errorf("from request %d on: %d more requests", at, n.Load()-at)
		}
		w.eventually(t, err)
		w.check(t)
	}
}

// TestExpiredCredentialsAreRenewedMidRun lets credentials expire under a run, which goes on with those that are to be had then.
func TestExpiredCredentialsAreRenewedMidRun(t *testing.T) {
	c, proxy := proxied(t, 2, 9)
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		if err := os.Unsetenv(name); err != nil { // which newCloud has set for this test
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	config, shared, asked := filepath.Join(dir, "config"), filepath.Join(dir, "credentials"), filepath.Join(dir, "asked")
	t.Setenv("AWS_CONFIG_FILE", config)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", shared)
	process := fmt.Sprintf("#!/bin/sh\necho >> %s\necho '{\"Version\": 1, \"AccessKeyId\": %q, \"SecretAccessKey\": %q}'\n", asked, s3test.AccessKey, s3test.SecretKey)
	write(t, filepath.Join(dir, "process"), process)
	login := func(key string) string {
		return fmt.Sprintf("[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n", key, s3test.SecretKey)
	}
	for name, kind := range map[string]struct {
		config, shared string
		first          int64 // the first request whose credentials may have expired
		isNew          func(*http.Request) bool
	}{
		"process": {
			config: "[default]\ncredential_process = /bin/sh " + filepath.Join(dir, "process") + "\n", first: 12,
			isNew: func(*http.Request) bool { info, err := os.Stat(asked); return err == nil && info.Size() > 1 },
		},
		"file": {
			shared: login("old"), first: 1,
			isNew: func(r *http.Request) bool { return !strings.Contains(r.Header.Get("Authorization"), "Credential=old/") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, config, kind.config)
			write(t, shared, kind.shared)
			w := c.world(t, name, "on_error: skip\nbatch: {max_files: 1}\n")
			var n, expired atomic.Int64
			proxy.Harm(func(r *http.Request) s3test.Fault {
				if n.Add(1) < kind.first || kind.isNew(r) {
					return s3test.None
				}
				if expired.Add(1) == 2 && kind.shared != "" {
					write(t, shared, login(s3test.AccessKey))
				}
				return s3test.Expire
			})
			err := w.run(t.Context(), pipeline.BuildOptions{})
			proxy.Harm(nil)
			if err != nil || expired.Load() == 0 {
				t.Fatalf("%d requests with expired credentials; %v", expired.Load(), err)
			}
			w.check(t)
		})
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Error(err)
	}
}

// TestVanishedBucketIsNamedAndNothingIsLost takes the table's bucket away under a run, and puts it back.
func TestVanishedBucketIsNamedAndNothingIsLost(t *testing.T) {
	c, proxy := proxied(t, 2, 9)
	folder, away := c.server.Folder(lakeBucket, ""), filepath.Join(t.TempDir(), "away")
	for at := int64(5); ; at += 4 {
		w := c.world(t, fmt.Sprint("gone-", at), quarantined+"batch: {max_files: 1}\n")
		var n atomic.Int64
		proxy.Harm(func(r *http.Request) s3test.Fault {
			if n.Add(1) == at {
				if err := os.Rename(folder, away); err != nil {
					t.Error(err)
				}
			}
			return s3test.None
		})
		err := w.run(t.Context(), pipeline.BuildOptions{KeepPlans: 2})
		proxy.Harm(nil)
		if n.Load() < at {
			break
		}
		if err := os.Rename(away, folder); err != nil {
			t.Fatal(err)
		}
		if err != nil && (!strings.Contains(err.Error(), "NoSuchBucket") || !strings.Contains(err.Error(), "make the bucket, or correct its name")) {
			t.Errorf("gone at request %d: %v", at, err)
		}
		w.eventually(t, err)
		w.check(t)
	}
}

// TestUploadThatIsAbortedUnderABatchFailsItCleanly does what a lifecycle rule for unfinished uploads does, before a part is sent
// and before the upload is completed. The next run does the batch again.
func TestUploadThatIsAbortedUnderABatchFailsItCleanly(t *testing.T) {
	c, proxy := proxied(t, 0, 0)
	c.landLarge(t)
	for name, when := range map[string]func(*http.Request) bool{
		"part":     func(r *http.Request) bool { return r.URL.Query().Get("partNumber") == "2" },
		"complete": func(r *http.Request) bool { return r.Method == http.MethodPost && r.URL.Query().Has("uploadId") },
	} {
		w := c.world(t, "aborted-"+name, "")
		var once sync.Once
		proxy.Harm(func(r *http.Request) s3test.Fault {
			if when(r) {
				once.Do(func() { c.abort(t, strings.TrimPrefix(r.URL.Path, "/"+lakeBucket+"/"), r.URL.Query().Get("uploadId")) })
			}
			return s3test.None
		})
		err := w.run(t.Context(), pipeline.BuildOptions{})
		proxy.Harm(nil)
		if err == nil || name == "complete" && !strings.Contains(err.Error(), "404 NoSuchUpload") {
			t.Errorf("aborted before %s: %v", name, err)
		}
		w.eventually(t, err)
		w.check(t)
	}
}

// landLarge lands a file of records that become more than a part of an upload.
func (c *cloud) landLarge(t *testing.T) {
	t.Helper()
	noise := rand.NewChaCha8([32]byte{1})
	var text strings.Builder
	for id := range int64(6) {
		note := make([]byte, 600_000)
		_, _ = noise.Read(note) // never fails
		fmt.Fprintf(&text, `{"id": %d, "day": "2024-05-01", "note": "%x"}`+"\n", id, note)
		c.in.good = append(c.in.good, id)
	}
	client, err := s3.New(s3.Options{Endpoint: c.server.URL})
	if err != nil {
		t.Fatal(err)
	}
	store, err := client.Store(landingBucket, "in")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.PutIfAbsent(t.Context(), "large.ndjson", []byte(text.String())); err != nil {
		t.Fatal(err)
	}
}

// abort ends an upload behind its owner's back.
func (c *cloud) abort(t *testing.T, key, id string) {
	t.Helper()
	client := awss3.New(awss3.Options{BaseEndpoint: &c.server.URL, UsePathStyle: true, Region: s3test.Region, Credentials: s3test.Credentials()})
	in := &awss3.AbortMultipartUploadInput{Bucket: aws.String(lakeBucket), Key: &key, UploadId: &id}
	if _, err := client.AbortMultipartUpload(t.Context(), in); err != nil {
		t.Error(err)
	}
}

// TestRunGoesOnThroughAStormOfSlowDown runs over a server that refuses more than four requests at once, beside a crowd that leaves it after a while.
func TestRunGoesOnThroughAStormOfSlowDown(t *testing.T) {
	c := newCloud(t, 4, 9, nil, "--max-requests", "4")
	calm, turnAway := context.WithCancel(t.Context())
	defer turnAway()
	var crowd sync.WaitGroup
	var refused atomic.Int64
	const enough = 300
	body := bytes.Repeat([]byte("x"), 1<<20)
	for i := range 16 {
		client := awss3.New(awss3.Options{
			BaseEndpoint: &c.server.URL, UsePathStyle: true, Region: s3test.Region, Credentials: s3test.Credentials(), Retryer: aws.NopRetryer{},
		})
		crowd.Go(func() {
			for calm.Err() == nil && refused.Load() < enough {
				in := &awss3.PutObjectInput{Bucket: aws.String(landingBucket), Key: aws.String(fmt.Sprint("crowd/", i)), Body: bytes.NewReader(body)}
				if _, err := client.PutObject(calm, in); err != nil && strings.Contains(err.Error(), "SlowDown") {
					refused.Add(1)
				}
			}
		})
	}
	w := c.world(t, "storm", quarantined+"batch: {max_files: 1}\n")
	err := w.run(t.Context(), pipeline.BuildOptions{})
	turnAway()
	crowd.Wait()
	w.check(t)
	if err != nil || refused.Load() == 0 {
		t.Errorf("%d requests of the crowd were refused; the run: %v", refused.Load(), err)
	}
}
