package commitlog

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestProtocolGate(t *testing.T) {
	field := func(typ, metadata string) string {
		return `{"type":"struct","fields":[{"name":"s","type":{"type":"struct","fields":[{"name":"x","type":"` + typ + `","nullable":true,"metadata":{` + metadata + `}}]},"nullable":true,"metadata":{}}]}`
	}
	plain := field("long", "")
	mapped := strings.ReplaceAll(field("long", ""), `"metadata":{}`, `"metadata":{"delta.columnMapping.id":1,"delta.columnMapping.physicalName":"p"}`)
	mapped = strings.Replace(mapped, `.id":1`, `.id":2`, 1)
	lists := func(r, w int, features ...string) Protocol {
		p := Protocol{MinReaderVersion: r, MinWriterVersion: w, WriterFeatures: features}
		if features == nil {
			p.WriterFeatures = []string{}
		}
		if r == 3 {
			p.ReaderFeatures = []string{}
			for _, f := range features {
				if s, known := supportOf(f); s.readerWriter || !known {
					p.ReaderFeatures = append(p.ReaderFeatures, f)
				}
			}
		}
		return p
	}
	writerOnly := func(feature string) Protocol {
		return Protocol{MinReaderVersion: 1, MinWriterVersion: 7, WriterFeatures: []string{feature}}
	}
	legacy := func(r, w int) Protocol { return Protocol{MinReaderVersion: r, MinWriterVersion: w} }
	tests := []struct {
		name          string
		protocol      Protocol
		schema        string
		configuration map[string]string
		reading       string // features that stand against it; empty for none
		writing       string
	}{
		{"(1,1)", legacy(1, 1), plain, nil, "", ""},
		{"(1,2)", legacy(1, 2), plain, nil, "", ""},
		{"(1,3)", legacy(1, 3), plain, nil, "", ""},
		{"(1,4)", legacy(1, 4), plain, nil, "", ""},
		{"(2,5)", legacy(2, 5), plain, nil, "", ""},
		{"(2,6)", legacy(2, 6), plain, nil, "", ""},
		{"(2,5) by name", legacy(2, 5), mapped, map[string]string{propColumnMapping: "name"}, "", ""},
		{"(2,5) by no name", legacy(2, 5), plain, map[string]string{propColumnMapping: "none"}, "", ""},
		{"(1,2) by name", legacy(1, 2), plain, map[string]string{propColumnMapping: "name"}, "", ""},
		{"(3,7) by id", lists(3, 7, "columnMapping"), mapped, map[string]string{propColumnMapping: "id"}, "", ""},
		{"(3,7) by what is not known", lists(3, 7, "columnMapping"), mapped, map[string]string{propColumnMapping: "hash"}, "columnMapping", "columnMapping"},
		{"(4,7)", legacy(4, 7), plain, nil, "reader version 4", "reader version 4"},
		{"(99,7)", legacy(99, 7), plain, nil, "reader version 99", "reader version 99"},
		{"(1,8)", legacy(1, 8), plain, nil, "", "writer version 8"},

		{"appendOnly", writerOnly("appendOnly"), plain, map[string]string{"delta.appendOnly": "true"}, "", ""},
		{"invariants", writerOnly("invariants"), plain, nil, "", ""},
		{"invariants used", legacy(1, 2), field("long", `"delta.invariants":"{}"`), nil, "", "invariants"},
		{"checkConstraints", writerOnly("checkConstraints"), plain, nil, "", ""},
		{"checkConstraints used", legacy(1, 3), plain, map[string]string{"delta.constraints.c": "x > 3"}, "", "checkConstraints"},
		{"changeDataFeed used", legacy(1, 4), plain, map[string]string{"delta.enableChangeDataFeed": "true"}, "", ""},
		{"generatedColumns used", legacy(1, 4), field("long", `"delta.generationExpression":"1"`), nil, "", "generatedColumns"},
		{"allowColumnDefaults", writerOnly("allowColumnDefaults"), plain, nil, "", ""},
		{"allowColumnDefaults used", writerOnly("allowColumnDefaults"), field("long", `"CURRENT_DEFAULT":"1"`), nil, "", "allowColumnDefaults"},
		{"identityColumns used", legacy(1, 6), field("long", `"delta.identity.start":1`), nil, "", "identityColumns"},
		{"deletionVectors", lists(3, 7, "deletionVectors"), plain, map[string]string{"delta.enableDeletionVectors": "true"}, "", ""},
		{"timestampNtz", lists(3, 7, "timestampNtz"), field("timestamp_ntz", ""), nil, "", ""},
		{"v2Checkpoint", lists(3, 7, "v2Checkpoint"), plain, nil, "", ""},
		{"domainMetadata", writerOnly("domainMetadata"), plain, nil, "", ""},
		{"rowTracking", lists(1, 7, "rowTracking", "domainMetadata"), plain, nil, "", "rowTracking"},
		{"clustering", lists(1, 7, "clustering", "domainMetadata"), plain, nil, "", ""},
		{"inCommitTimestamp", writerOnly("inCommitTimestamp"), plain, nil, "", ""},
		{"vacuumProtocolCheck", lists(3, 7, "vacuumProtocolCheck"), plain, nil, "", ""},
		{"typeWidening", lists(3, 7, "typeWidening"), plain, nil, "", ""},
		{"typeWidening used", lists(3, 7, "typeWidening"), field("long", `"delta.typeChanges":[{"fromType":"integer","toType":"long"}]`), nil, "", ""},
		{"typeWidening to what is narrower", lists(3, 7, "typeWidening"), field("integer", `"delta.typeChanges":[{"fromType":"long","toType":"integer"}]`), nil, "typeWidening", "typeWidening"},
		{"checkpointProtection", writerOnly("checkpointProtection"), plain, nil, "", ""},
		{"icebergCompatV1", writerOnly("icebergCompatV1"), plain, nil, "", "icebergCompatV1"},
		{"variantType", lists(3, 7, "variantType"), field("variant", ""), nil, "", "variantType"},
		{"variantType-preview", lists(3, 7, "variantType-preview"), field("variant", ""), nil, "", "variantType-preview"},
		{"variantShredding", lists(3, 7, "variantType", "variantShredding"), field("variant", ""), nil, "", "variantType,variantShredding"},
		{"catalogManaged", lists(3, 7, "catalogManaged"), plain, nil, "catalogManaged", "catalogManaged"},
		{"unknown to writers", writerOnly("myFeature"), plain, nil, "", "myFeature"},
		{"a name in another case", writerOnly("AppendOnly"), plain, nil, "", "AppendOnly"},
		{"several", lists(1, 7, "rowTracking", "myFeature"), field("long", `"delta.invariants":"{}"`), map[string]string{"delta.constraints.c": "x"}, "", "rowTracking,myFeature,invariants,checkConstraints"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := &Head{Version: 3, Protocol: tt.protocol, table: "mem:t", Metadata: Metadata{
				ID: "T", Format: Format{Provider: "parquet"}, SchemaString: tt.schema, Configuration: tt.configuration,
			}}
			reading := h.gate()
			writing := h.Writable()
			if reading != nil {
				writing = reading
			}
			check := func(use, want string, err error) {
				t.Helper()
				var unsupported *UnsupportedError
				switch {
				case want == "" && err != nil:
					t.Errorf("%s: %v", use, err)
				case want == "":
				case !errors.As(err, &unsupported):
					t.Errorf("%s: got %v, want %s", use, err, want)
				case strings.Join(unsupported.Features, ",") != want || !strings.Contains(err.Error(), "mem:t"):
					t.Errorf("%s: %v, want %s", use, err, want)
				}
			}
			check("reading", tt.reading, reading)
			check("writing", tt.writing, writing)
		})
	}
}

func TestAnUnwritableTableCanStillBeRead(t *testing.T) {
	s := newMemStore()
	s.write(0, `{"protocol":{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["rowTracking"]}}`, lineMetadata, lineAdd("a"))
	l := New(s)
	h, err := l.Load(context.Background())
	if err != nil || h.Writable() == nil {
		t.Fatal(h, err)
	}
	_, err = l.Commit(context.Background(), appending(0, 1))
	want := "table mem:table: writing it needs rowTracking, which this version of Sluice does not support; use a table without, or another engine for this one"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestImpliedFeatures(t *testing.T) {
	got := map[int]string{}
	for w := 1; w <= 7; w++ {
		got[w] = strings.Join((Protocol{MinReaderVersion: 1, MinWriterVersion: w, WriterFeatures: []string{"listed"}}).writes(), " ")
	}
	want := map[int]string{
		1: "",
		2: "appendOnly invariants",
		3: "appendOnly invariants checkConstraints",
		4: "appendOnly invariants checkConstraints changeDataFeed generatedColumns",
		5: "appendOnly invariants checkConstraints changeDataFeed generatedColumns columnMapping",
		6: "appendOnly invariants checkConstraints changeDataFeed generatedColumns columnMapping identityColumns",
		7: "listed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseInterval(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"interval 1 week": 7 * day, "INTERVAL 30 DAYS": 30 * day, "2 days 3 hours": 2*day + 3*time.Hour,
		"interval 5 minutes 1 second": 5*time.Minute + time.Second, "10 milliseconds 7 microseconds": 10*time.Millisecond + 7*time.Microsecond,
		"interval 0 days": 0,
	} {
		if got, err := ParseInterval(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "interval", "1", "1 month", "1 year", "x days", "-1 day", "1 day 2", "200000 weeks", "1.5 days"} {
		if got, err := ParseInterval(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestTxnRetention(t *testing.T) {
	h := &Head{}
	if d, err := h.TxnRetention(); d != 0 || err != nil {
		t.Errorf("without the property: %v, %v", d, err)
	}
	h.Metadata.Configuration = map[string]string{"delta.setTransactionRetentionDuration": "interval 7 days"}
	if d, err := h.TxnRetention(); d != 7*24*time.Hour || err != nil {
		t.Errorf("got %v, %v", d, err)
	}
}
