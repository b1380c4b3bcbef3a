package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicedata/sluice/internal/s3test"
	"github.com/sluicedata/sluice/storage/s3"
)

// TestInitFromObjectsInS3WritesAPipelineThatRuns samples a prefix and a glob of objects, and runs what comes of them.
func TestInitFromObjectsInS3WritesAPipelineThatRuns(t *testing.T) {
	server := s3test.Start(t)
	s3test.Environment(t, server.URL)
	land(t, server.Bucket(t, "landing"), map[string]string{
		"orders/2026/03/a.ndjson": `{"id":1,"at":"2026-03-01T09:30:00Z"}` + "\n",
		"orders/2026/03/b.ndjson": `{"id":2,"amount":1.5}` + "\n",
		"orders/2026/03/c.txt":    "not for the glob\n",
		"other/d.ndjson":          `{"else":1}` + "\n",
	})
	for from, want := range map[string]string{
		"s3://landing/orders/**/*.ndjson": "path: \"s3://landing/orders/**/*.ndjson\" ",
		"s3://landing/other/":             "path: \"s3://landing/other\" ",
	} {
		file := filepath.Join(t.TempDir(), "p.yaml")
		sluice(t, exitDone, "init", "--from", from, "--table", filepath.Join(t.TempDir(), "t"), file)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) || strings.Contains(string(text), "storage:") {
			t.Errorf("init --from %s wrote:\n%s", from, text)
		}
		if out := sluice(t, exitDone, "validate", file); !strings.Contains(out, "is a valid pipeline file") {
			t.Error(out)
		}
		replaced := strings.Replace(string(text), "settle: 2s", "settle: 0s", 1)
		if err := os.WriteFile(file, []byte(replaced), 0o666); err != nil {
			t.Fatal(err)
		}
		sluice(t, exitDone, "run", file)
		if out := sluice(t, exitDone, "audit", file); !strings.Contains(out, "Every range was committed once") {
			t.Error(out)
		}
	}
}

func TestInitFromS3SaysWhatIsWrongWithASample(t *testing.T) {
	server := s3test.Start(t)
	s3test.Environment(t, server.URL)
	land(t, server.Bucket(t, "landing"), map[string]string{"a.ndjson": "{}\n"})
	for _, c := range []struct {
		from string
		exit int
		want string
	}{
		{"s3://", exitUsage, "it names no bucket"},
		{"s3://b*/x", exitUsage, "with wildcards only behind the bucket"},
		{"s3://landing/a.ndjson", exitUsage, "it is an object"},
		{"s3://nowhere/x", exitFailed, "make the bucket, or correct its name"},
		{"s3://landing/x/[", exitUsage, "malformed"},
	} {
		file := filepath.Join(t.TempDir(), "p.yaml")
		if out := sluice(t, c.exit, "init", "--from", c.from, file); !strings.Contains(out, c.want) {
			t.Errorf("init --from %s: %s", c.from, out)
		}
		if _, err := os.Stat(file); err == nil {
			t.Errorf("init --from %s left a file", c.from)
		}
	}
}

// land puts objects into a bucket.
func land(t *testing.T, bucket string, objects map[string]string) {
	t.Helper()
	client, err := s3.New(s3.Options{})
	if err != nil {
		t.Fatal(err)
	}
	store, err := client.Store(bucket, "")
	if err != nil {
		t.Fatal(err)
	}
	for key, body := range objects {
		if _, err := store.PutIfAbsent(t.Context(), key, []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
}

// sluice runs a command and returns what it says.
func sluice(t *testing.T, want int, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if got := run(args, strings.NewReader(""), &out, &out); got != want {
		t.Fatalf("sluice %s: exit %d, want %d\n%s", strings.Join(args, " "), got, want, out.String())
	}
	return out.String()
}
