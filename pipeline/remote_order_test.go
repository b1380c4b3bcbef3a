package pipeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicedata/sluice/pipeline"
)

// TestLexicalOrderAsksS3ForWhatIsNew counts the listings of a landing folder with more objects than a page has.
func TestLexicalOrderAsksS3ForWhatIsNew(t *testing.T) {
	c, proxy := proxied(t, 0, 0)
	c.in.yaml = "  files: {path: 's3://" + landingBucket + "/in/**/*.ndjson', settle: 0s, order: lexical}\n"
	land := func(first, last int) {
		for id := first; id < last; id++ {
			var text strings.Builder
			c.in.add(&text, id, "")
			file := c.server.Folder(landingBucket, fmt.Sprintf("in/%04d/%04d.ndjson", id/100, id))
			if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
				t.Fatal(err)
			}
			write(t, file, text.String())
		}
	}
	w := c.world(t, "lexical", "on_error: skip\nbatch: {max_files: 500}\n")
	listings := func() (n int) {
		proxy.Take()
		if err := w.run(t.Context(), pipeline.BuildOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, request := range proxy.Take() {
			if strings.HasPrefix(request, "GET /"+landingBucket) && strings.HasSuffix(request, "?list-type") {
				n++
			}
		}
		return n
	}
	land(0, 1100)
	if n := listings(); n != 2 {
		t.Errorf("%d listings of 1,100 objects, want one for each page", n)
	}
	land(1100, 1110)
	if n := listings(); n != 1 {
		t.Errorf("%d listings for 10 new objects, want 1", n)
	}
	w.check(t)
}
