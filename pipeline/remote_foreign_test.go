package pipeline_test

import (
	"testing"

	"github.com/sluicedata/sluice/internal/interop"
	"github.com/sluicedata/sluice/pipeline"
)

// TestTableInS3IsReadByOthers has delta-rs read the table over S3 as we do, and both foreign readers where the server
// keeps it.
func TestTableInS3IsReadByOthers(t *testing.T) {
	c := newCloud(t, 3, 9, nil)
	w := c.world(t, "others", "  partition_by: [day]\n"+quarantined+"batch: {max_files: 2}\n")
	if err := w.run(t.Context(), pipeline.BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	w.check(t)
	t.Setenv("AWS_ALLOW_HTTP", "true")
	readers := interop.Readers(t)
	for _, name := range []string{"t", "t_quarantine"} {
		url := "s3://" + lakeBucket + "/others/" + name
		want := remoteContent(t, url)
		answers, err := readers.Read(t.Context(), "deltalake", interop.Job{Table: url})
		if err != nil {
			t.Fatal(err)
		}
		if a := answers[0]; a.Error != "" || a.Rows != want.Rows || a.Hash != want.Hash {
			t.Errorf("delta-rs reads %s as %+v, want %+v", url, a, want)
		}
		interop.Check(t, interop.Table{Path: c.server.Folder(lakeBucket, w.prefix+"/"+name), Versions: map[int64]interop.Content{1: want}})
	}
}

// remoteContent scans the newest version of a table over S3.
func remoteContent(t *testing.T, url string) interop.Content {
	t.Helper()
	return interop.Scanned(t, newest(t, url))
}
