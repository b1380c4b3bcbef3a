package s3_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/internal/s3test"
)

// TestCommitWhoseAnswerIsLostIsRecognised harms one put of each of a hundred commits, in turn by each fault whose outcome
// the client cannot know.
func TestCommitWhoseAnswerIsLostIsRecognised(t *testing.T) {
	server := s3test.Start(t)
	proxy := s3test.NewProxy(t, server)
	client, raw := open(t, options(proxy.URL), server.Bucket(t, "bucket"), "lake/t")
	faults := []s3test.Fault{s3test.ResetAfter, s3test.ErrorAfter, s3test.Drop, s3test.Refuse, s3test.Flip}
	harmed, harm := 0, s3test.None
	proxy.Harm(func(r *http.Request) s3test.Fault {
		if r.Method != http.MethodPut || harm == s3test.None {
			return s3test.None
		}
		fault := harm
		harm = s3test.None
		harmed++
		return fault
	})
	log := commitlog.New(client.Retrier().Wrap(raw))
	const commits = 100
	recognised := 0
	for batch := range int64(commits) {
		harm = faults[batch%int64(len(faults))]
		tx := commitlog.Transaction{ReadVersion: batch - 1, AppID: "p", Batch: batch, Blind: true}
		tx.Actions.Adds = []commitlog.Add{{Path: fmt.Sprintf("part-%d.parquet", batch), Size: 1, ModificationTime: 1, DataChange: true}}
		if batch == 0 {
			tx.ReadVersion = commitlog.NoTable
			tx.Actions.Protocol = &commitlog.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}
			tx.Actions.Metadata = &commitlog.Metadata{
				ID: "b39a5e2c-6f3c-4f0c-9d5f-0c5c1f6c9c55", Format: commitlog.Format{Provider: "parquet"},
				SchemaString: `{"type":"struct","fields":[]}`,
			}
		}
		result, err := log.Commit(t.Context(), tx)
		if err != nil || result.Version != batch {
			t.Fatalf("batch %d: %+v, %v", batch, result, err)
		}
		if result.Recognised {
			recognised++
		}
	}
	if harmed != commits || recognised != commits*2/len(faults) {
		t.Errorf("%d puts harmed, %d commits recognised", harmed, recognised)
	}
	var keys []string
	for _, key := range listed(t, raw) {
		keys = append(keys, strings.TrimPrefix(key, "_delta_log/"))
	}
	for i, key := range keys {
		if key != fmt.Sprintf("%020d.json", i) {
			t.Fatalf("version %d is %s", i, key)
		}
	}
	head, err := commitlog.New(raw).Load(t.Context())
	if err != nil || len(keys) != commits || head.Files != commits || head.Apps["p"].Batch != commits-1 {
		t.Errorf("%d versions, head %+v, %v", len(keys), head, err)
	}
}
