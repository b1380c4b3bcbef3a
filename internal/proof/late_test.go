package proof

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/sluicedata/sluice/internal/s3test"
)

// requests are those to S3 after which a process is held by name.
var requests = []struct {
	name   string
	method string
	path   string // a part of it
}{
	{"at the look at the table", http.MethodGet, "/_delta_log/"},
	{"at the put of its plan", http.MethodPut, "/offsets/"},
	{"at the put of its data", http.MethodPut, ".parquet"},
	{"at the put of its commit", http.MethodPut, "/_delta_log/"},
}

func TestProcessThatIsHeldOnItsWayToS3ComesTooLateWithoutHarm(t *testing.T) {
	j := newJudge(t)
	j.startS3(t)
	for _, r := range requests {
		t.Run(r.name, func(t *testing.T) {
			match := func(q *http.Request) bool { return q.Method == r.method && strings.Contains(q.URL.Path, r.path) }
			if !j.remote(t).comeLate(t, match) {
				t.Error("the process has not come there")
			}
		})
	}
	const most = 40 // requests of such a process
	for _, n := range choices(t).Perm(most)[:either(t, 2, most)] {
		t.Run(fmt.Sprintf("request %d", n), func(t *testing.T) {
			passed := 0
			j.remote(t).comeLate(t, func(*http.Request) bool { passed++; return passed > n })
		})
	}
	j.judge(t)
}

// remote is a pipeline all in S3 that has run two batches.
func (j *judge) remote(t *testing.T) feed {
	t.Helper()
	f := j.filePerBatch(t, places{landing: j.s3.place("landing"), table: j.s3.place("notes")})
	must(t, f.step)
	must(t, f.step)
	f.finish(t)
	return f
}

// comeLate holds a process at the first request that is matched while another one goes on; its requests arrive after that.
// It tells whether there was such a request.
func (f feed) comeLate(t *testing.T, match func(*http.Request) bool) (held bool) {
	t.Helper()
	must(t, f.step)
	must(t, f.step)
	late, held, wake := f.hold(t, match)
	must(t, f.step)
	f.finish(t)
	must(t, f.step) // so that the late one has something to plan
	wake()
	code := late.wait(t)
	if code != 0 && code != exitFenced {
		t.Errorf("exit %d:\n%s", code, late.stderr.text())
	}
	f.finish(t)
	f.check(t, f.producer)
	t.Logf("held %t, exit %d", held, code)
	return held
}

// holdCommit is hold at the put of a commit, which has to come.
func (s *site) holdCommit(t *testing.T) (p *process, wake func()) {
	t.Helper()
	p, held, wake := s.hold(t, func(r *http.Request) bool {
		return r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/_delta_log/")
	})
	if !held {
		t.Fatalf("it ended before its commit:\n%s", p.stderr.text())
	}
	return p, wake
}

// hold runs the pipeline on the other side of a way to S3 that nothing passes from the first request on that is matched,
// until it is woken. It returns when such a request is there, or false when the process has ended without one.
func (s *site) hold(t *testing.T, match func(*http.Request) bool) (p *process, held bool, wake func()) {
	t.Helper()
	proxy := s3test.NewProxy(t, s.judge.s3.Server)
	arrived, open := make(chan struct{}), make(chan struct{})
	arrive, wake := sync.OnceFunc(func() { close(arrived) }), sync.OnceFunc(func() { close(open) })
	t.Cleanup(wake)
	proxy.Harm(func(r *http.Request) s3test.Fault {
		if match(r) {
			arrive()
			<-open
		}
		return s3test.None
	})
	p = launch(t, "env", "AWS_ENDPOINT_URL="+proxy.URL, binary(t, "sluice"), "run", s.file, "--trigger", "available-now", "--log-level", "debug")
	select {
	case <-arrived:
		return p, true, wake
	case <-p.ended:
		return p, false, wake
	}
}
