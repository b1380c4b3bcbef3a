package commitlog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const clusteredProtocol = `{"protocol":{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["clustering","domainMetadata"]}}`

func lineClustering(columns string) string {
	return fmt.Sprintf(`{"domainMetadata":{"domain":"delta.clustering","configuration":%q,"removed":false}}`, `{"clusteringColumns":`+columns+`,"domainName":"delta.clustering"}`)
}

// metadataOf is a line of metadata with a schema of a struct within a struct, whose stored names are others.
func metadataOf(partitions string) string {
	s := `{"type":"struct","fields":[` +
		`{"name":"a","type":"long","nullable":true,"metadata":{"delta.columnMapping.id":1,"delta.columnMapping.physicalName":"col-1"}},` +
		`{"name":"s","type":{"type":"struct","fields":[{"name":"x","type":"long","nullable":true,"metadata":{"delta.columnMapping.id":2,"delta.columnMapping.physicalName":"col-2"}}]},` +
		`"nullable":true,"metadata":{"delta.columnMapping.id":3,"delta.columnMapping.physicalName":"col-3"}}]}`
	return fmt.Sprintf(`{"metaData":{"id":"T","format":{"provider":"parquet","options":{}},"schemaString":%q,"partitionColumns":%s,"configuration":{"delta.columnMapping.mode":"name"}}}`, s, partitions)
}

func TestColumnsThatATableIsClusteredBy(t *testing.T) {
	mapped := strings.Replace(clusteredProtocol, `"clustering"`, `"columnMapping","clustering"`, 1)
	mapped = strings.Replace(mapped, `"minReaderVersion":1`, `"minReaderVersion":2`, 1)
	for name, c := range map[string]struct {
		lines []string
		want  []string
		fault string
	}{
		"none":                {[]string{clusteredProtocol, metadataOf("[]")}, nil, ""},
		"by name":             {[]string{clusteredProtocol, lineMetadata, lineClustering(`[["id"]]`)}, []string{"id"}, ""},
		"by stored names":     {[]string{mapped, metadataOf("[]"), lineClustering(`[["col-3","col-2"],["col-1"]]`)}, []string{"s.x", "a"}, ""},
		"by none again":       {[]string{clusteredProtocol, lineMetadata, lineClustering(`[]`)}, nil, ""},
		"without the feature": {[]string{lineProtocol, lineMetadata, lineClustering(`[["id"]]`)}, nil, ""},
		"no such column":      {[]string{mapped, metadataOf("[]"), lineClustering(`[["a"]]`)}, nil, `names the column ["a"], which the table does not have`},
		"not in a struct":     {[]string{mapped, metadataOf("[]"), lineClustering(`[["col-1","col-2"]]`)}, nil, `names the column ["col-1" "col-2"]`},
		"of another form":     {[]string{clusteredProtocol, lineMetadata, lineClustering(`["id"]`)}, nil, "domain delta.clustering is"},
		"partitioned":         {[]string{mapped, metadataOf(`["a"]`), lineClustering(`[["col-1"]]`)}, []string{"a"}, "it is clustered by a, and partitioned by a as well"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newMemStore()
			s.write(0, c.lines...)
			l := New(s)
			h, err := l.Load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			state, err := l.Files(t.Context(), -1)
			if err != nil {
				t.Fatal(err)
			}
			columns, fault := h.ClusteringColumns()
			if again, _ := state.ClusteringColumns(); !cmp.Equal(again, columns) || !cmp.Equal(DottedPaths(columns), c.want) {
				t.Errorf("columns %q, and %q", columns, again)
			}
			if c.fault == "" && (fault != nil || h.Writable() != nil) {
				t.Errorf("got %v, %v", fault, h.Writable())
			}
			if w := h.Writable(); c.fault != "" && (fault == nil || w == nil || !strings.Contains(w.Error(), c.fault) || !strings.Contains(w.Error(), "clustering")) {
				t.Errorf("got %v, %v", fault, w)
			}
			if c.fault == "" && c.want != nil && !strings.Contains(c.lines[2], strings.ReplaceAll(ClusterBy(h.Schema(), columns).Configuration, `"`, `\"`)) {
				t.Errorf("it would be written as %+v", ClusterBy(h.Schema(), columns))
			}
		})
	}
}

// TestHeadKnowsOfClusteringThatCameLater follows commits, its own and those of others, and reads a log checkpoint.
func TestHeadKnowsOfClusteringThatCameLater(t *testing.T) {
	s := newMemStore()
	s.write(0, clusteredProtocol, lineMetadata)
	l := newTestLog(s)
	first, err := l.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, want ...string) {
		t.Helper()
		if _, err := l.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, l := range []*Log{l, newTestLog(s)} {
			if h, err := l.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			} else if columns, err := h.ClusteringColumns(); err != nil || !cmp.Equal(DottedPaths(columns), want) {
				t.Errorf("%s: %q, %v", what, columns, err)
			}
		}
	}
	s.write(1, lineClustering(`[["id"]]`))
	check("by others", "id")
	if _, err := l.Commit(t.Context(), Transaction{ReadVersion: 1, Actions: Commit{Domains: []DomainMetadata{ClusterBy(first.Schema(), nil)}}}); err != nil {
		t.Fatal(err)
	}
	check("none by ourselves")
	s.write(3, lineClustering(`[["id"]]`))
	check("by others again", "id")
	if columns, _ := first.ClusteringColumns(); columns != nil {
		t.Errorf("an old head has changed: %q", columns)
	}
	f := newLogFolder(t)
	f.commit(0, clusteredProtocol, lineMetadata, lineClustering(`[["id"]]`))
	f.commit(1, lineAdd("a"))
	if _, err := f.log().Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.removeCommits(0)
	h, err := f.log().Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if columns, _ := h.ClusteringColumns(); !cmp.Equal(DottedPaths(columns), []string{"id"}) {
		t.Errorf("from a checkpoint: %q", columns)
	}
}

// TestTableThatOthersCreateIsClusteredAsTheySay has a batch that would have created the table come second.
func TestTableThatOthersCreateIsClusteredAsTheySay(t *testing.T) {
	s := newMemStore()
	l := newTestLog(s)
	s.write(0, clusteredProtocol, lineMetadata, lineClustering(`[["id"]]`))
	tx := creating()
	tx.Actions.Domains = []DomainMetadata{{Domain: clusteringDomain, Configuration: `{"clusteringColumns":[]}`}}
	tx.Validate = func(*Head) error { return nil }
	if _, err := l.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	if c := s.newest(t); c.Version != 1 || len(c.Domains) > 0 {
		t.Errorf("%+v", c)
	}
}
