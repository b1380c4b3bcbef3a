package pipeline_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sluicedata/sluice/internal/s3test"
	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/storage"
	"github.com/sluicedata/sluice/storage/storagetest"
)

// TestEveryRecordIsThereOnceInS3WhereverTheProcessDies is the crash loop with landing folder, checkpoint and table in S3.
func TestEveryRecordIsThereOnceInS3WhereverTheProcessDies(t *testing.T) {
	remoteCrashLoop(t, newCloud(t, 2, 9, nil))
}

// TestEveryRecordIsThereOnceOnMinIOWhereverTheProcessDies is the same over a second server.
func TestEveryRecordIsThereOnceOnMinIOWhereverTheProcessDies(t *testing.T) {
	remoteCrashLoop(t, fillCloud(t, s3test.MinIO(t), 2, 9, nil))
}

func remoteCrashLoop(t *testing.T, c *cloud) {
	t.Helper()
	for _, mode := range append(slices.Clone(storagetest.Modes), storagetest.Zombie) {
		k := 0
		for ; ; k += stride {
			w := c.world(t, fmt.Sprintf("%d-%d", mode, k), quarantined+"batch: {max_files: 1}\n")
			crash := &storagetest.Crash{At: k, Mode: mode, Delay: 1}
			err := w.run(t.Context(), pipeline.BuildOptions{Wrap: wrapAll(crash), KeepPlans: 2})
			if err == nil && !crash.Happened() {
				break
			}
			crash.Deliver()
			w.eventually(t, err)
			w.check(t)
			if t.Failed() {
				t.Fatalf("after operation %d, %s", k, crash.Op)
			}
		}
		t.Logf("%v: %d crash points, every %d. tried", mode, k, stride)
	}
}

// TestLateRequestsOfTheDeadDoNoHarmWhereverTheProcessDies kills a process at each request that would change something and
// lets that request take effect in the middle of the next run, at each of its operations, over a store which does as S3: it
// sweeps nothing that is published.
func TestLateRequestsOfTheDeadDoNoHarmWhereverTheProcessDies(t *testing.T) {
	in := landing(t, 3, 9)
	in.yaml = strings.Replace(in.yaml, "settle: 0s", "settle: 0s, order: lexical", 1)
	for name, extra := range map[string]string{
		"plain":                      "on_error: skip\nbatch: {max_files: 1}\n",
		"partitioned and quarantine": "  partition_by: [day]\n" + quarantined + "batch: {max_files: 1}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			points := 0
			const step = 3 + stride // each request arrives at every so many operations, and at others than the one before it
			for k, more := 0, true; more; k++ {
				for at := k % step; ; at += step {
					reached, died := lateRequest(t, in, extra, k, at)
					if more = died; !reached || !died {
						break
					}
					points++
				}
			}
			t.Logf("%d points, every %d. tried", points, step)
		})
	}
}

// lateRequest kills a process at the k-th request that would change something, and lets that take effect at an operation of the next run. It says
// whether there are such an operation and such a request.
func lateRequest(t *testing.T, in *input, extra string, k, at int) (reached, died bool) {
	t.Helper()
	w := newWorld(t, in, extra)
	defer os.RemoveAll(w.dir)
	dying := &storagetest.Crash{At: k, Mode: storagetest.Zombie}
	err := w.run(t.Context(), pipeline.BuildOptions{Wrap: unswept(dying.Wrap), KeepPlans: 2})
	if !dying.Happened() {
		return false, false
	}
	var n atomic.Int64
	meanwhile := func(s storage.Store) storage.Store {
		return storage.Wrap(s, func(op *storage.Op, call func() error) error {
			if n.Add(1) == int64(at)+1 {
				dying.Deliver()
			}
			return call()
		})
	}
	for tries := 0; err != nil; tries++ {
		if tries == 3 {
			t.Fatalf("%s, in effect at operation %d of the next run: does not recover: %v", dying.Op, at, err)
		}
		err = w.run(t.Context(), pipeline.BuildOptions{Wrap: unswept(meanwhile), KeepPlans: 2})
	}
	w.checkRows(t)
	if t.Failed() {
		t.Fatalf("%s, in effect at operation %d of the next run", dying.Op, at)
	}
	return n.Load() > int64(at), true
}

// unswept makes stores as S3 has them, where a sweep removes nothing that was published.
func unswept(wrap func(storage.Store) storage.Store) func(string, storage.Store) storage.Store {
	return func(_ string, s storage.Store) storage.Store {
		return wrap(storage.Wrap(s, func(op *storage.Op, call func() error) error {
			if op.Name == "sweep" {
				return nil
			}
			return call()
		}))
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
		"late": s3test.Late, "twice": s3test.Twice,
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

func TestStopWhileTheEndpointIsProbedIsClean(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var proxy *s3test.Proxy
	c := newCloud(t, 1, 1, func(server *s3test.Server) string {
		proxy = s3test.NewProxy(t, server)
		return proxy.URL
	})
	w := c.world(t, "stopped", "")
	proxy.Harm(func(*http.Request) s3test.Fault {
		stop()
		return s3test.Drop
	})
	if err := w.run(ctx, pipeline.BuildOptions{}); err != nil {
		t.Error(err)
	}
}
