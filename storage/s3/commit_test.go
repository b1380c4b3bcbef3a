package s3_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/internal/s3test"
	"github.com/sluicedata/sluice/storage/s3"
)

// TestCommitWhoseAnswerIsLostIsRecognised harms one put of each of a hundred commits, in turn by each fault whose outcome
// the client cannot know.
func TestCommitWhoseAnswerIsLostIsRecognised(t *testing.T) {
	server := s3test.Start(t)
	proxy := s3test.NewProxy(t, server)
	client, raw := open(t, options(proxy.URL), server.Bucket(t, "bucket"), "lake/t")
	faults := []s3test.Fault{s3test.ResetAfter, s3test.ErrorAfter, s3test.Late, s3test.Drop, s3test.Refuse}
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
		result, err := log.Commit(t.Context(), transaction("p", batch, batch-1))
		if err != nil || result.Version != batch {
			t.Fatalf("batch %d: %+v, %v", batch, result, err)
		}
		if result.Recognised {
			recognised++
		}
	}
	if harmed != commits || recognised != commits*3/len(faults) {
		t.Errorf("%d puts harmed, %d commits recognised", harmed, recognised)
	}
	mustHaveCommits(t, raw, commits)
}

// TestWritersOfOneTableTakeTurns has several processes commit at once.
func TestWritersOfOneTableTakeTurns(t *testing.T) {
	server := s3test.Start(t)
	bucket := server.Bucket(t, "bucket")
	const writers, commits = 4, 25
	first, _ := open(t, options(server.URL), bucket, "lake/t")
	store, err := first.Store(bucket, "lake/t")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := commitlog.New(store).Commit(t.Context(), transaction("maker", 0, commitlog.NoTable)); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for w := range writers {
		client, raw := open(t, options(server.URL), bucket, "lake/t")
		log := commitlog.New(client.Retrier().Wrap(raw))
		all.Go(func() {
			for batch := range int64(commits) {
				if _, err := log.Commit(t.Context(), transaction(fmt.Sprintf("w%d", w), batch, 0)); err != nil {
					t.Errorf("writer %d, batch %d: %v", w, batch, err)
					return
				}
			}
		})
	}
	all.Wait()
	head := mustHaveCommits(t, store, writers*commits+1)
	for w := range writers {
		if app := head.Apps[fmt.Sprintf("w%d", w)]; app.Batch != commits-1 {
			t.Errorf("writer %d: %+v", w, app)
		}
	}
}

// transaction adds one file; with no version to read it makes the table.
func transaction(app string, batch, readVersion int64) commitlog.Transaction {
	tx := commitlog.Transaction{ReadVersion: readVersion, AppID: app, Batch: batch, Blind: true}
	tx.Actions.Adds = []commitlog.Add{{Path: fmt.Sprintf("part-%s-%d.parquet", app, batch), Size: 1, ModificationTime: 1, DataChange: true}}
	if readVersion == commitlog.NoTable {
		tx.Actions.Protocol = &commitlog.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}
		tx.Actions.Metadata = &commitlog.Metadata{
			ID: "b39a5e2c-6f3c-4f0c-9d5f-0c5c1f6c9c55", Format: commitlog.Format{Provider: "parquet"},
			SchemaString: `{"type":"struct","fields":[]}`,
		}
	}
	return tx
}

// mustHaveCommits checks that the log has exactly so many versions, without a hole, each with a file of its own.
func mustHaveCommits(t *testing.T, store *s3.Store, commits int) *commitlog.Head {
	t.Helper()
	keys := listed(t, store)
	for i, key := range keys {
		if key != fmt.Sprintf("_delta_log/%020d.json", i) {
			t.Fatalf("version %d is %s", i, key)
		}
	}
	head, err := commitlog.New(store).Load(t.Context())
	if err != nil || len(keys) != commits {
		t.Fatalf("%d versions, head %+v, %v; want %d", len(keys), head, err, commits)
	}
	return head
}
