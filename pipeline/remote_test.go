package pipeline

import (
	"path/filepath"
	"testing"
)

func TestEveryStorageKeyLoads(t *testing.T) {
	f := mustParse(t, `name: x
source: {files: {path: "s3://in/landing/**/*.ndjson"}}
table: {path: s3://out/lake/t/}
storage:
  region: eu-central-1
  endpoint: https://minio:9000
  path_style: false
  ca: ca.pem
  sse: aws:kms
  kms_key_id: alias/lake
  request_payer: true
`)
	off := false
	compare(t, &File{
		Name: "x", Table: Table{Path: "s3://out/lake/t"}, Checkpoint: "s3://out/lake/t/_sluice/x",
		Source: Source{
			Files: &Files{
				Path: "s3://in/landing/**/*.ndjson", Root: "s3://in/landing", Written: "s3://in/landing", Pattern: "**/*.ndjson",
				Settle: defaultSettle, Overwritten: OverwrittenError, Order: OrderModified,
			},
			Format: mustParse(t, base).Source.Format,
		},
		Storage: Storage{
			Region: "eu-central-1", Endpoint: "https://minio:9000", PathStyle: &off, CA: filepath.Join("dir", "ca.pem"),
			SSE: "aws:kms", KMSKeyID: "alias/lake", RequestPayer: true,
		},
		Trigger: Trigger{Mode: AvailableNow}, Batch: mustParse(t, base).Batch, OnError: OnError{Policy: PolicyFail}, Memory: defaultMemory,
		Maintenance: Maintenance{Checkpoint: Auto},
	}, f)
}

func TestPlacesAreInS3EachByItself(t *testing.T) {
	for name, c := range map[string]struct{ landing, table, checkpoint string }{
		"landing":    {"s3://b/in", "lake/t", "cp"},
		"table":      {"landing", "s3://b/t", "cp"},
		"checkpoint": {"landing", "lake/t", "s3://b/cp"},
		"buckets":    {"s3://a", "s3://b", "s3://c"},
		"beside":     {"s3://b/landing", "s3://b/landing2", "s3://b/landing3"},
	} {
		t.Run(name, func(t *testing.T) {
			f := mustParse(t, "name: x\nsource: {files: {path: '"+c.landing+"'}}\ntable: {path: '"+c.table+"'}\ncheckpoint: '"+c.checkpoint+"'\n")
			p, err := Build(f, BuildOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestLandingPrefixWithoutWildcardsIsAFolder(t *testing.T) {
	for path, root := range map[string]string{"s3://b/in": "s3://b/in", "s3://b/in/": "s3://b/in", "s3://b": "s3://b", "s3://b/a\\*b": "s3://b/a*b"} {
		f := mustParse(t, "name: x\nsource: {files: {path: '"+path+"'}}\ntable: {path: lake}\n")
		if got := f.Source.Files; got.Root != root || got.Pattern != "**" || got.Written != root {
			t.Errorf("%s: %+v", path, got)
		}
	}
}

func TestOpenStoreTakesFoldersAndURLs(t *testing.T) {
	for path, url := range map[string]string{"lake/t": "lake/t", "s3://b/p/": "s3://b/p"} {
		s, err := OpenStore(path, "test")
		if err != nil || s.URL() != url {
			t.Errorf("OpenStore(%q): %v, %v", path, s, err)
		}
	}
	if _, err := OpenStore("s3://", "test"); err == nil {
		t.Error("a URL without a bucket: no error")
	}
}
