package commitlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sluicedata/sluice/internal/seqtest"
)

func TestEveryActionIsReadWhole(t *testing.T) {
	body := `{"commitInfo":{"timestamp":1,"inCommitTimestamp":2,"operation":"WRITE","operationParameters":{"mode":"Append","n":12345678901234567890},"readVersion":-1,"isolationLevel":"Serializable","isBlindAppend":false,"operationMetrics":{"numFiles":"1"},"userMetadata":"m","tags":{"k":"v"},"engineInfo":"e","txnId":"t","clusterId":"c","job":{"jobId":"1"}}}
{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":[],"writerFeatures":["appendOnly"]}}
{"metaData":{"id":"i","name":"n","description":"d","format":{"provider":"parquet","options":{"o":"1"}},"schemaString":"{}","partitionColumns":["p"],"configuration":{"k":"v"},"createdTime":9}}
{"txn":{"appId":"a","version":3,"lastUpdated":4}}
{"txn":{"appId":"b","version":5}}
{"domainMetadata":{"domain":"d","configuration":"{}","removed":true}}
{"remove":{"path":"r","deletionTimestamp":1,"dataChange":false,"extendedFileMetadata":true,"partitionValues":{"p":null},"size":7,"stats":"s","tags":{"a":"b"},"deletionVector":{"storageType":"i","pathOrInlineDv":"x","sizeInBytes":3,"cardinality":4},"baseRowId":0,"defaultRowCommitVersion":0}}
{"add":{"path":"a","partitionValues":{"p":"1"},"size":8,"modificationTime":2,"dataChange":true,"stats":"{\"numRecords\":1}","tags":{"c":"d"},"deletionVector":{"storageType":"u","pathOrInlineDv":"y","offset":1,"sizeInBytes":5,"cardinality":6},"baseRowId":1,"defaultRowCommitVersion":2,"clusteringProvider":"liquid"}}
{"cdc":{"path":"c","partitionValues":{"p":"2"},"size":9,"dataChange":false,"tags":{"e":"f"}}}
`
	p := func(n int64) *int64 { return &n }
	s := func(v string) *string { return &v }
	no, offset := false, int32(1)
	want := &Commit{
		Version: 4,
		Info: &CommitInfo{
			Timestamp: 1, InCommitTimestamp: 2, Operation: "WRITE",
			OperationParameters: map[string]any{"mode": "Append", "n": json.Number("12345678901234567890")},
			ReadVersion:         p(-1), IsolationLevel: "Serializable", IsBlindAppend: &no,
			OperationMetrics: map[string]string{"numFiles": "1"}, UserMetadata: "m", Tags: map[string]string{"k": "v"}, EngineInfo: "e", TxnID: "t",
			Extra: map[string]json.RawMessage{"clusterId": json.RawMessage(`"c"`), "job": json.RawMessage(`{"jobId":"1"}`)},
		},
		Protocol: &Protocol{3, 7, []string{}, []string{"appendOnly"}},
		Metadata: &Metadata{"i", "n", "d", Format{"parquet", map[string]string{"o": "1"}}, "{}", []string{"p"}, map[string]string{"k": "v"}, 9},
		Txns:     []Txn{{"a", 3, 4}, {"b", 5, 0}},
		Domains:  []DomainMetadata{{"d", "{}", true}},
		Removes: []Remove{{
			"r", 1, false, true,
			map[string]*string{"p": nil},
			p(7), "s",
			map[string]string{"a": "b"},
			&DeletionVector{"i", "x", nil, 3, 4}, p(0), p(0),
		}},
		Adds: []Add{{
			"a",
			map[string]*string{"p": s("1")},
			8, 2, true, `{"numRecords":1}`,
			map[string]string{"c": "d"},
			&DeletionVector{"u", "y", &offset, 5, 6}, p(1), p(2), "liquid",
		}},
		CDCs: []CDC{{"c", map[string]*string{"p": s("2")}, 9, false, map[string]string{"e": "f"}}},
	}
	got, err := ParseCommit(4, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if id := got.Adds[0].Key().DV + " " + got.Removes[0].Key().DV; id != "uy@1 ix" {
		t.Errorf("deletion vector ids %s", id)
	}
	again, err := got.Render()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Replace(body, `{"timestamp":1,"inCommitTimestamp":2`, `{"inCommitTimestamp":2,"timestamp":1`, 1), string(again)); diff != "" {
		t.Error(diff)
	}
}

// TestReaderProbes holds hand-made logs against what delta-kernel-rs 0.23 was seen to accept and refuse.
func TestReaderProbes(t *testing.T) {
	without := func(line, member string) string {
		i := strings.Index(line, `"`+member+`":`)
		j := i + strings.IndexAny(line[i:], ",}")
		if strings.Contains(line[i:j], "{") {
			j = i + strings.Index(line[i:], "}") + 1
		}
		return strings.Replace(strings.Replace(line[:i]+line[j:], "{,", "{", 1), ",,", ",", 1)
	}
	swap := func(line, old, with string) string {
		if !strings.Contains(line, old) {
			t.Fatalf("%s is not in %s", old, line)
		}
		return strings.Replace(line, old, with, 1)
	}
	add := lineAdd("part-1")
	protocol := func(text string) string { return `{"protocol":{` + text + `}}` }
	log := func(lines ...string) string { return strings.Join(lines, "\n") + "\n" }
	full := log(lineProtocol, lineMetadata, add)

	tests := []struct {
		name string
		body string
		want string // paths read, or ERR
	}{
		{"00-base", full, "part-1"},
		{"01-no-createdTime", log(lineProtocol, swap(lineMetadata, `,"createdTime":1`, ``), add), "part-1"},
		{"02-no-configuration", log(lineProtocol, without(lineMetadata, "configuration"), add), "ERR"},
		{"03-no-partitionColumns", log(lineProtocol, swap(lineMetadata, `"partitionColumns":[],`, ``), add), "ERR"},
		{"04-no-format", log(lineProtocol, swap(lineMetadata, `"format":{"provider":"parquet","options":{}},`, ``), add), "ERR"},
		{"05-no-modtime", log(lineProtocol, lineMetadata, without(add, "modificationTime")), "ERR"},
		{"06-no-partitionValues", log(lineProtocol, lineMetadata, without(add, "partitionValues")), "ERR"},
		{"07-no-dataChange", log(lineProtocol, lineMetadata, swap(add, `,"dataChange":true`, ``)), "ERR"},
		{"08-no-stats", full, "part-1"},
		{"09-stats-invalid-json", log(lineProtocol, lineMetadata, swap(add, `"dataChange":true`, `"dataChange":true,"stats":"{nope"`)), "part-1"},
		{"10-stats-object-not-string", log(lineProtocol, lineMetadata, swap(add, `"dataChange":true`, `"dataChange":true,"stats":{"numRecords":10}`)), "ERR"},
		{"15-size-float", log(lineProtocol, lineMetadata, swap(add, `"size":10`, `"size":10.0`)), "part-1"},
		{"16-dup-add-same-commit", log(lineProtocol, lineMetadata, add, add), "part-1"},
		{"18-add-remove-same-path-same-commit", log(lineProtocol, lineMetadata, add, lineRemove("part-1")), ""},
		{"27-no-trailing-newline", strings.TrimSuffix(full, "\n"), "part-1"},
		{"28-blank-lines", strings.ReplaceAll(full, "\n", "\n\n  \n"), "part-1"},
		{"30-unknown-action", log(lineProtocol, lineMetadata, `{"future":{"a":[1,{"b":null}]}}`, add), "part-1"},
		{"31-unknown-field", log(lineProtocol, lineMetadata, swap(add, `"size"`, `"future":{"x":[]},"size"`)), "part-1"},
		{"32-protocol-readerVersion-name", log(protocol(`"readerVersion":1,"writerVersion":2`), lineMetadata, add), "ERR"},
		{"33-r3w7-no-lists", log(protocol(`"minReaderVersion":3,"minWriterVersion":7`), lineMetadata, add), "ERR"},
		{"34-r3w7-empty", log(protocol(`"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":[],"writerFeatures":[]`), lineMetadata, add), "part-1"},
		{"35-r1w7-writer-only", log(protocol(`"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["appendOnly"]`), lineMetadata, add), "part-1"},
		{"36-r2w7-cm-writeronly", log(protocol(`"minReaderVersion":2,"minWriterVersion":7,"writerFeatures":["columnMapping"]`), lineMetadata, add), "part-1"},
		{"37-r3w7-reader-only-feature", log(protocol(`"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["timestampNtz"],"writerFeatures":[]`), lineMetadata, add), "ERR"},
		{"38-r1w2-with-lists", log(protocol(`"minReaderVersion":1,"minWriterVersion":2,"readerFeatures":[],"writerFeatures":[]`), lineMetadata, add), "ERR"},
		{"39-r3w7-writer-feature-in-reader", log(protocol(`"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["appendOnly"],"writerFeatures":["appendOnly"]`), lineMetadata, add), "ERR"},
		{"40-unknown-writer-feature", log(protocol(`"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":[],"writerFeatures":["myFeature"]`), lineMetadata, add), "part-1"},
		{"41-unknown-reader-feature", log(protocol(`"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["myFeature"],"writerFeatures":["myFeature"]`), lineMetadata, add), "ERR"},
		{"54-schema-no-field-metadata", log(lineProtocol, swap(lineMetadata, `,\"metadata\":{}`, ``), add), "ERR"},
		{"55-schema-int-alias", log(lineProtocol, swap(lineMetadata, `\"long\"`, `\"bigint\"`), add), "ERR"},
		{"56-config-nonstring", log(lineProtocol, swap(lineMetadata, `"configuration":{}`, `"configuration":{"a":1,"b":true,"c":null}`), add), "part-1"},
		{"57-add-null-fields", log(lineProtocol, lineMetadata, swap(add, `"dataChange":true`, `"dataChange":true,"stats":null,"tags":null,"deletionVector":null,"baseRowId":null,"clusteringProvider":null`)), "part-1"},
		{"58-two-actions-per-line", lineProtocol + lineMetadata + " " + add, "part-1"},
		{"58b-two-actions-per-object", log(lineProtocol, lineMetadata, strings.TrimSuffix(add, "}")+","+strings.TrimPrefix(lineAdd("part-2"), "{")), "part-1 part-2"},
		{"60-ntz-no-feature", log(lineProtocol, swap(lineMetadata, `\"long\"`, `\"timestamp_ntz\"`), add), "ERR"},
		{"61-partval-empty-string", log(lineProtocol, lineMetadata, swap(add, `"partitionValues":{}`, `"partitionValues":{"p":""}`)), "part-1"},
		{"65-partval-int-as-number", log(lineProtocol, lineMetadata, swap(add, `"partitionValues":{}`, `"partitionValues":{"p":7}`)), "part-1"},
		{"66-part-col-not-in-schema", log(lineProtocol, swap(lineMetadata, `"partitionColumns":[]`, `"partitionColumns":["p"]`), add), "part-1"},
		{"68-metadata-last-in-commit", log(add, lineProtocol, lineMetadata), "part-1"},
		{"69-bom", "\xef\xbb\xbf" + full, "ERR"},
		{"70-crlf", strings.ReplaceAll(full, "\n", "\r\n"), "part-1"},
		{"71-pretty-printed", strings.NewReplacer("{", "{\n ", ",", ",\n ").Replace(log(lineProtocol)) + log(lineMetadata, add), "part-1"},
		{"80-null-actions", log(`{"add":null,"commitInfo":null}`, lineProtocol, lineMetadata, add), "part-1"},
		{"81-empty-object", log("{}", lineProtocol, lineMetadata, add), "part-1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newMemStore()
			s.put("00000000000000000000.json", tt.body)
			s.put("00000000000000000001.json", "") // 29-empty-commit
			state, err := New(s).Files(context.Background(), -1)
			_, headErr := New(s).Load(context.Background())
			if err == nil && headErr != nil {
				t.Errorf("Load: %v", headErr)
			}
			if err != nil {
				if tt.want != "ERR" || (!errors.As(err, new(*CorruptError)) && !errors.As(err, new(*UnsupportedError))) {
					t.Error(err)
				}
				return
			}
			var paths []string
			for _, a := range seqtest.All(t, state.Files.All(t.Context())) {
				paths = append(paths, a.Path)
			}
			if got := strings.Join(paths, " "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestWhatIsNoCommitIsRefusedWithItsLine(t *testing.T) {
	tests := []struct{ body, want string }{
		{"[]", "line 1: '[' where '{' should be"},
		{"{}\n{}\nnull", "line 3: 'n' where '{' should be"},
		{`{"add":`, "line 1: it ends where '{' should be"},
		{lineAdd("a")[:30], "line 1: it ends inside a string"},
		{"{}\n\x00", "line 2: a zero byte where an action should be"},
		{`{"add":[]}`, "line 1: '[' where '{' should be"},
		{`{"txn":{"appId":"a","version":1}}` + "\n" + `{"txn":{"appId":"a","version":2}}`, `line 2: a second txn of "a"`},
		{lineProtocol + lineProtocol, "a second protocol"},
		{lineMetadata + lineMetadata, "a second metaData"},
		{`{"txn":{"appId":"a"}}`, "txn without version"},
		{`{"txn":{"appId":"a","version":"1"}}`, "'\"' where a number should be"},
		{`{"txn":{"appId":"a","version":1.5}}`, "1.5 is not a whole number of 64 bits"},
		{`{"txn":{"appId":"a","version":9223372036854775808}}`, "is not a whole number of 64 bits"},
		{`{"protocol":{"minReaderVersion":3000000000,"minWriterVersion":2}}`, "is not a whole number of 32 bits"},
		{`{"add":{"PATH":"a","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true}}`, "add without path"},
		{lineAdd(""), "an empty path"},
		{"{\"add\":{\"path\":\"a\xff\"}}", "it is not valid UTF-8"},
		{`{"x":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + "}", "nested deeper than 500 levels"},
		{`{"x":01}`, "'1' where '}' should be"},
		{`{"x":tru}`, "'t' where a value should be"},
		{"{\"x\":\"a\tb\"}", "a control character inside a string"},
		{`{"x":"\q"}`, "an unknown escape"},
		{`{"x":1,}`, "'}' where a member's name should be"},
		{`{"domainMetadata":{"domain":"d"}}`, "domainMetadata without configuration"},
		{`{"remove":{"dataChange":true}}`, "remove without path"},
		{`{"cdc":{}}`, "cdc without path"},
		{withDV(lineAdd("a"), "x")[:0] + strings.Replace(withDV(lineAdd("a"), "x"), `"cardinality":2`, `"x":2`, 1), "deletionVector without cardinality"},
	}
	for _, tt := range tests {
		_, err := ParseCommit(7, []byte(tt.body))
		var corrupt *CorruptError
		if !errors.As(err, &corrupt) || corrupt.Version != 7 || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.60q: got %v, want %s", tt.body, err, tt.want)
		}
	}
}

func TestCommitInfoOfOtherTypesIsKeptAsItIs(t *testing.T) {
	body := `{"commitInfo":{"operation":"VACUUM","operationMetrics":{"numFiles":3},"readVersion":"4","operationParameters":"none","tags":null}}` + "\n"
	c, err := ParseCommit(1, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	if c.Info.Operation != "VACUUM" || c.Info.OperationMetrics != nil || string(c.Info.Extra["readVersion"]) != `"4"` {
		t.Errorf("got %+v", c.Info)
	}
	got, err := c.Render()
	want := `{"commitInfo":{"operation":"VACUUM","operationMetrics":{"numFiles":3},"operationParameters":"none","readVersion":"4"}}` + "\n"
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestNumbersThatAreWhole(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "-0": 0, "9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64,
		"10.0": 10, "1e3": 1000, "12.50e1": 125, "9007199254740991.0": 1<<53 - 1,
	} {
		c, err := ParseCommit(0, []byte(fmt.Sprintf(`{"txn":{"appId":"a","version":%s}}`, text)))
		if err != nil || c.Txns[0].Version != want {
			t.Errorf("%s: %+v, %v", text, c, err)
		}
	}
	for _, text := range []string{"9007199254740994.0", "1e400", "0.5", "1e-3", "-", "+1", ".5", "1.", "1e", "NaN", "0x10"} {
		if _, err := ParseCommit(0, []byte(fmt.Sprintf(`{"txn":{"appId":"a","version":%s}}`, text))); err == nil {
			t.Errorf("%s was accepted", text)
		}
	}
}

func TestRenderRefusesWhatReadersTakeInTwoWays(t *testing.T) {
	dv := &DeletionVector{StorageType: "u", PathOrInlineDv: "x"}
	tests := map[string]struct {
		commit Commit
		ok     bool
	}{
		"two adds of a path":                {Commit{Adds: []Add{{Path: "a"}, {Path: "a", DeletionVector: dv}}}, false},
		"two removes of a path":             {Commit{Removes: []Remove{{Path: "a"}, {Path: "a", DeletionVector: dv}}}, false},
		"add and remove of the same":        {Commit{Adds: []Add{{Path: "a"}}, Removes: []Remove{{Path: "a"}}}, false},
		"add and remove of other rows":      {Commit{Adds: []Add{{Path: "a", DeletionVector: dv}}, Removes: []Remove{{Path: "a"}}}, true},
		"two txns of an app":                {Commit{Txns: []Txn{{AppID: "a"}, {AppID: "a", Version: 1}}}, false},
		"two settings of a domain":          {Commit{Domains: []DomainMetadata{{Domain: "a"}, {Domain: "a", Removed: true}}}, false},
		"a path that is not UTF-8":          {Commit{Adds: []Add{{Path: "\xff"}}}, false},
		"an empty path":                     {Commit{Removes: []Remove{{}}}, false},
		"nothing":                           {Commit{}, true},
		"metadata with nothing but nothing": {Commit{Metadata: &Metadata{}}, true},
	}
	for name, tt := range tests {
		if _, err := tt.commit.Render(); (err == nil) != tt.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParseCommit(f *testing.F) {
	f.Add([]byte(lineInfo("t") + lineProtocol + lineMetadata + lineTxn("a", 1) + withDV(lineAdd("a"), "x") + lineRemove("b")))
	f.Add([]byte(`{"commitInfo":{"operation":1,"operation":"\ud83d\ude00","x":{"y":[1e5,null]}}}`))
	f.Add([]byte("\r\n{\"cdc\":{\"path\":\"\\u00e9\",\"partitionValues\":{\"p\":null,\"q\":7}}}\n{}"))
	f.Add([]byte(`{"domainMetadata":{"domain":"d","configuration":"<&>","removed":false}}{"future":[true,false,-0.5E+1]}`))
	f.Add([]byte(`{"metaData":{"id":"","format":{"provider":"parquet"},"schemaString":"","partitionColumns":["\ud800"],"configuration":{"a":1.0}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := ParseCommit(1, body)
		var p parser
		shortErr := p.parse(1, body, summary)
		if short := p.commit; err == nil && (shortErr != nil || len(p.adds) > 0 || !cmp.Equal(short.Txns, c.Txns) || !cmp.Equal(short.Metadata, c.Metadata)) {
			t.Fatalf("in full %v, as a summary %v, %v", c, short, shortErr)
		}
		if replayErr := p.parse(1, body, replay); (err == nil) != (replayErr == nil) || replayErr != nil && replayErr.Error() != err.Error() {
			t.Fatalf("in full %v, for a replay %v", err, replayErr)
		}
		if err != nil {
			return
		}
		for range 2 { // with the memory of the one before
			_ = p.parse(2, []byte(lineAdd(`x\\y\u00e9`)+lineRemove(`\"`)), replay)
			_ = p.parse(1, body, replay)
			if diff := cmp.Diff(c.Adds, copies(p.adds, (*fileAction).add)) + cmp.Diff(c.Removes, copies(p.removes, (*fileAction).remove)); diff != "" {
				t.Fatal(diff)
			}
		}
		d := json.NewDecoder(strings.NewReader(string(body)))
		for d.More() {
			var any map[string]json.RawMessage
			if err := d.Decode(&any); err != nil {
				t.Fatalf("accepted what is not JSON: %v", err)
			}
		}
		first, err := c.Render()
		if err != nil {
			return
		}
		again, err := ParseCommit(1, first)
		if err != nil {
			t.Fatalf("cannot read its own: %v\n%s", err, first)
		}
		if diff := cmp.Diff(c, again, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		second, err := again.Render()
		if err != nil || string(first) != string(second) {
			t.Fatalf("%s\n%s\n%v", first, second, err)
		}
	})
}

// FuzzText holds strings against encoding/json, wherever they lie in a word.
func FuzzText(f *testing.F) {
	for _, s := range []string{`a"`, `\"`, `0123456\"89abcdef"`, `\u00e9\ud83d\ude00\ud800\"x"`, "é\tx\"", `\\\/\b\f\n\r\t",`, `\`, `\u12`, "01234567\x1f\"", `{\"numRecords\":1,\"minValues\":{\"a\":\"b\"}}"`, "\u007f\u0080\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return
		}
		var want string
		d := json.NewDecoder(strings.NewReader(`"` + s))
		wantErr := d.Decode(&want)
		c := cursor{}
		for shift := range 9 {
			c = cursor{b: []byte(strings.Repeat(" ", shift) + `"` + s), unescaped: c.unescaped[:0]}
			got := string(c.text())
			if (c.err == nil) != (wantErr == nil) || got != want || wantErr == nil && int64(c.i-shift) != d.InputOffset() {
				t.Fatalf("%q: got %q, %v, want %q, %v", s, got, c.err, want, wantErr)
			}
		}
	})
}
