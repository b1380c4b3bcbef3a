package proof

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sluicedata/sluice/internal/s3test"
	"github.com/sluicedata/sluice/storage/s3"
)

// cloud is the S3 server of a test. The environment leads the program, the foreign readers and the test itself to it.
type cloud struct {
	*s3test.Server
	bucket string
	given  atomic.Int64 // places
}

// startS3 starts a server for the sites of a test. Of the tests that need one, no two run at once.
func (j *judge) startS3(t *testing.T, flags ...string) {
	t.Helper()
	server := s3test.Start(t, flags...)
	s3test.Environment(t, server.URL)
	t.Setenv("AWS_ALLOW_HTTP", "true") // delta-rs asks for that
	j.s3 = &cloud{Server: server, bucket: server.Bucket(t, "lake")}
}

// place is an s3:// URL that no other site has.
func (c *cloud) place(name string) string {
	return fmt.Sprintf("%s%s/%d/%s", s3.Scheme, c.bucket, c.given.Add(1), name)
}

func isRemote(place string) bool { return strings.HasPrefix(place, s3.Scheme) }

// filesIn is the source of a pipeline's file that reads a landing folder.
func filesIn(place string) string { return fmt.Sprintf("files: {path: %q, settle: 0s}", place) }

// disk is the folder that holds what is at a place: itself, or the server's own.
func (j *judge) disk(place string) string {
	if bucket, prefix, err := s3.ParseURL(place); err == nil {
		return j.s3.Folder(bucket, prefix)
	}
	return place
}

// relative lists the files below a folder by their paths from there on, with slashes.
func relative(t *testing.T, folder string) map[string]bool {
	t.Helper()
	keys := map[string]bool{}
	err := filepath.WalkDir(folder, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		key, err := filepath.Rel(folder, name)
		keys[filepath.ToSlash(key)] = true
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}
