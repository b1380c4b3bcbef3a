package s3_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestManyObjectsAreDeletedWhateverTheStoreAnswers asks services that answer a bulk request in different ways.
func TestManyObjectsAreDeletedWhateverTheStoreAnswers(t *testing.T) {
	const refusal = `<Error><Code>%s</Code><Message>no</Message></Error>`
	for name, c := range map[string]struct {
		status  int
		answer  string
		single  []string
		problem string
		tries   int
	}{
		"it can":          {200, `<DeleteResult/>`, nil, "", 1},
		"not implemented": {501, fmt.Sprintf(refusal, "NotImplemented"), []string{"/b/t/a", "/b/t/c"}, "", 1},
		"not allowed":     {405, fmt.Sprintf(refusal, "MethodNotAllowed"), []string{"/b/t/a", "/b/t/c"}, "", 1},
		"one is gone":     {200, `<DeleteResult><Error><Key>t/c</Key><Code>NoSuchKey</Code></Error></DeleteResult>`, nil, "", 1},
		"one is denied":   {200, `<DeleteResult><Error><Key>t/c</Key><Code>AccessDenied</Code></Error></DeleteResult>`, nil, "delete all c: 403 AccessDenied", 1},
		"one is throttled": {
			200, `<DeleteResult><Error><Key>t/c</Key><Code>SlowDown</Code></Error></DeleteResult>`, nil, "delete all c: 503 SlowDown", 2,
		},
		"its answer is cut short": {200, `<DeleteResult><Error><Key>t/c</K`, nil, "delete all a: the answer (200 OK) cannot be read: ", 2},
	} {
		t.Run(name, func(t *testing.T) {
			var (
				mu     sync.Mutex
				single []string
				bulk   int
			)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				mu.Lock()
				defer mu.Unlock()
				if r.Method == http.MethodDelete {
					single = append(single, r.URL.Path)
					w.WriteHeader(http.StatusNoContent)
					return
				}
				bulk++
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.answer)
			}))
			defer server.Close()
			o := options(server.URL)
			o.Retry.Attempts = 2
			client, store := open(t, o, "b", "t")
			err := client.Retrier().Wrap(store).DeleteAll(t.Context(), []string{"a", "c"})
			if c.problem == "" && err != nil || c.problem != "" && (err == nil || !strings.Contains(err.Error(), c.problem)) {
				t.Errorf("got %v", err)
			}
			if !slices.Equal(single, c.single) || bulk != c.tries {
				t.Errorf("deleted by themselves: %v; %d requests for many", single, bulk)
			}
		})
	}
}
