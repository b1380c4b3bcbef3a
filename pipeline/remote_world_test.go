package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sluicedata/sluice/internal/s3test"
	"github.com/sluicedata/sluice/pipeline"
	"github.com/sluicedata/sluice/storage/s3"
)

// cloud is a server with a landing folder in it, shared by many worlds.
type cloud struct {
	server *s3test.Server
	in     *input
}

const (
	lakeBucket    = "lake"
	landingBucket = "landing"
)

// newCloud starts a server whose landing bucket has n files of records. clients reach it at the endpoint that route
// makes of the server. flags are more of the server's program.
func newCloud(t *testing.T, n, records int, route func(*s3test.Server) string, flags ...string) *cloud {
	t.Helper()
	return fillCloud(t, s3test.Start(t, flags...), n, records, route)
}

// fillCloud is newCloud on a server that runs.
func fillCloud(t *testing.T, server *s3test.Server, n, records int, route func(*s3test.Server) string) *cloud {
	t.Helper()
	c := &cloud{server: server}
	endpoint := c.server.URL
	if route != nil {
		endpoint = route(c.server)
	}
	s3test.Environment(t, endpoint)
	c.server.Bucket(t, lakeBucket)
	c.in = &input{yaml: "  files: {path: 's3://" + c.server.Bucket(t, landingBucket) + "/in/*.ndjson', settle: 0s}\n"}
	client, err := s3.New(s3.Options{Endpoint: c.server.URL})
	if err != nil {
		t.Fatal(err)
	}
	store, err := client.Store(landingBucket, "in")
	if err != nil {
		t.Fatal(err)
	}
	for f := range n {
		name := fmt.Sprintf("f%02d.ndjson", f)
		var text strings.Builder
		for i := range records {
			c.in.add(&text, f*records+i, fmt.Sprintf("s3://%s/in/%s %d", landingBucket, name, i+1))
		}
		if _, err := store.PutIfAbsent(t.Context(), name, []byte(text.String())); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// remoteWorld is one table with its checkpoint below a prefix of the lake.
type remoteWorld struct {
	*world
	cloud  *cloud
	prefix string
}

func (c *cloud) world(t testing.TB, prefix, extra string) *remoteWorld {
	t.Helper()
	text := "name: p\nsource:\n" + c.in.yaml + `columns:
  - {name: id, type: long, nullable: false}
  - {name: day, type: date}
  - {name: note, type: string}
table:
  path: s3://` + lakeBucket + "/" + prefix + "/t\n" + extra + "checkpoint: s3://" + lakeBucket + "/" + prefix + "/checkpoint\n"
	f, err := pipeline.Parse("p.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return &remoteWorld{world: &world{in: c.in, file: f}, cloud: c, prefix: prefix}
}

// run runs the pipeline as one process, with the probe before it.
func (w *remoteWorld) run(ctx context.Context, options pipeline.BuildOptions) error {
	p, err := pipeline.Build(w.file, options)
	if err != nil {
		return err
	}
	return errors.Join(p.Run(ctx), p.Close())
}

// check is that of a world, but for what is left behind.
func (w *remoteWorld) check(t testing.TB) {
	t.Helper()
	want := make([]string, len(w.in.good))
	for i, id := range w.in.good {
		want[i] = fmt.Sprint(id)
	}
	compare(t, "rows", w.column(t, w.place("t"), "id"), want)
	if w.file.OnError.Policy == pipeline.PolicyQuarantine {
		sources, positions := w.column(t, w.place("t_quarantine"), "source"), w.column(t, w.place("t_quarantine"), "position")
		got := make([]string, len(sources))
		for i := range got {
			got[i] = sources[i] + " " + positions[i]
		}
		compare(t, "quarantined records", got, w.in.bad)
	}
	w.audit(t)
}

func (w *remoteWorld) place(name string) string {
	return s3.Scheme + lakeBucket + "/" + w.prefix + "/" + name
}

// eventually runs the pipeline until it ends well, which it has to soon.
func (w *remoteWorld) eventually(t testing.TB, err error) {
	t.Helper()
	for tries := 0; err != nil; tries++ {
		if tries == 3 {
			t.Fatalf("does not recover: %v", err)
		}
		err = w.run(t.Context(), pipeline.BuildOptions{KeepPlans: 2})
	}
}
