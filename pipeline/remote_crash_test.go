package pipeline_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/sluicedata/sluice/internal/s3test"
	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/storage/storagetest"
)

// TestEveryRecordIsThereOnceInS3WhereverTheProcessDies is the crash loop with landing folder, checkpoint and table in S3.
func TestEveryRecordIsThereOnceInS3WhereverTheProcessDies(t *testing.T) {
	c := newCloud(t, 2, 9, nil)
	for _, mode := range storagetest.Modes {
		k := 0
		for ; ; k += stride {
			w := c.world(t, fmt.Sprintf("%d-%d", mode, k), quarantined+"batch: {max_files: 1}\n")
			crash := &storagetest.Crash{At: k, Mode: mode}
			err := w.run(t.Context(), pipeline.BuildOptions{Wrap: wrapAll(crash), KeepPlans: 2})
			if err == nil && !crash.Happened() {
				break
			}
			w.eventually(t, err)
			w.check(t)
			if t.Failed() {
				t.Fatalf("after operation %d, %s", k, crash.Op)
			}
		}
		t.Logf("%v: %d crash points, every %d. tried", mode, k, stride)
	}
}

// TestEveryRecordIsThereOnceInS3WhereverTheNetworkFails harms each request of a run in each way.
func TestEveryRecordIsThereOnceInS3WhereverTheNetworkFails(t *testing.T) {
	var proxy *s3test.Proxy
	c := newCloud(t, 2, 9, func(s *s3test.Server) string {
		proxy = s3test.NewProxy(t, s)
		return proxy.URL
	})
	faults := map[string]s3test.Fault{
		"dropped": s3test.Drop, "reset after": s3test.ResetAfter, "error after": s3test.ErrorAfter, "refused": s3test.Refuse,
		"late": s3test.Late,
	}
	for name, fault := range faults {
		k := int64(0)
		for ; ; k += stride {
			w := c.world(t, fmt.Sprintf("%d-%d", fault, k), "on_error: skip\nbatch: {max_files: 1}\n")
			var n atomic.Int64
			var harmed string
			proxy.Harm(func(r *http.Request) s3test.Fault {
				if n.Add(1) != k+1 {
					return s3test.None
				}
				harmed = r.Method + " " + r.URL.String()
				return fault
			})
			if err := w.run(t.Context(), pipeline.BuildOptions{}); err != nil {
				t.Fatalf("%s, request %d, %s: %v", name, k, harmed, err)
			}
			proxy.Harm(nil)
			w.check(t)
			if t.Failed() {
				t.Fatalf("%s, request %d, %s", name, k, harmed)
			}
			if n.Load() <= k {
				break
			}
		}
		t.Logf("%s: %d requests, every %d. harmed", name, k, stride)
	}
}

// TestRunGoesOnWhenTheServerIsKilledAndComesBack kills the server again and again under a run.
func TestRunGoesOnWhenTheServerIsKilledAndComesBack(t *testing.T) {
	var proxy *s3test.Proxy
	c := newCloud(t, 6, 9, func(s *s3test.Server) string {
		proxy = s3test.NewProxy(t, s)
		return proxy.URL
	})
	var n atomic.Int64
	kills := 0
	proxy.Harm(func(*http.Request) s3test.Fault {
		if n.Add(1)%10 == 0 {
			kills++
			c.server.Restart(t)
		}
		return s3test.None
	})
	w := c.world(t, "killed", "on_error: skip\nbatch: {max_files: 1}\n")
	w.eventually(t, w.run(t.Context(), pipeline.BuildOptions{}))
	proxy.Harm(nil)
	w.check(t)
	if kills < 2 {
		t.Errorf("the server was killed %d times", kills)
	}
	t.Logf("%d kills", kills)
}
