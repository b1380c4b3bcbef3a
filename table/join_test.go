package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/sluicedata/sluice/internal/parquettest"
	"github.com/sluicedata/sluice/parquetfile"
	"github.com/sluicedata/sluice/schema"
)

// sourceOf is a file some of whose rows have been deleted.
type sourceOf struct {
	body    []byte
	deleted deletionVector
}

// joinedOf is one file of what the sources hold, and its statistics. Row by row, it is the file that the rows make which a scan hands out.
func joinedOf(t testing.TB, l *layout, s *schema.Type, byRow bool, sources ...sourceOf) (body []byte, stats string, err error) {
	t.Helper()
	var out bytes.Buffer
	e := newEncoder(l, filePageBytes, &workspace{})
	if err := e.begin(&out); err != nil {
		t.Fatal(err)
	}
	var opener sourceOpener
	for _, of := range sources {
		if byRow {
			err = eachRecord(t.Context(), of.body, s, of.deleted, false, func(r arrow.Record) error { return writeRecord(e, r) })
		} else {
			var f *sourceFile
			if f, err = opener.open(l, place{}, memObject{bytes.NewReader(of.body)}); err == nil && !f.joins {
				err = errNotJoined
			}
			if err == nil {
				err = e.join(t.Context(), f, of.deleted)
			}
		}
		if err != nil {
			return nil, "", err
		}
	}
	if _, err := e.end(); err != nil {
		return nil, "", err
	}
	return out.Bytes(), e.stats().render(), nil
}

var errNotJoined = errors.New("its pages cannot be joined")

func writeRecord(e *encoder, r arrow.Record) error {
	columns, err := bind(e.layout.columns, r)
	if err != nil {
		return err
	}
	return e.write(columns, slices.Clone(allRows(int(r.NumRows()))), 100)
}

// randomVector deletes rows of a file of so many: none, all, one here and there, or many that are together.
func randomVector(r *rand.Rand, rows int) deletionVector {
	v := make(deletionVector, (rows+63)/64)
	share, run := []int{0, 1, 2, 100}[r.IntN(4)], 1+r.IntN(2)*r.IntN(1+rows/2)
	for row := 0; share > 0 && row < rows; row++ {
		if r.IntN(share*run) > 0 {
			continue
		}
		for end := min(row+run, rows); row < end; row++ {
			v[row/64] |= 1 << (row % 64)
		}
	}
	return v
}

// TestJoinedPagesHoldTheRowsThatAreLeft compares with the file that is made of the same rows: rows and statistics, in pages of all sizes.
func TestJoinedPagesHoldTheRowsThatAreLeft(t *testing.T) {
	for seed := range uint64(16) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 3))
			s := randomStruct(r, 1+r.IntN(5), 2)
			properties := map[string]string{
				encodingProperty: []string{"compatible", "compact"}[r.IntN(2)],
				codecProperty:    []string{"snappy", "zstd", "uncompressed"}[r.IntN(3)],
				pageSizeProperty: []string{"100", "2kb", "1mb"}[r.IntN(3)],
			}
			l, err := newLayout(s, properties, engineName, newZstd())
			if err != nil {
				t.Fatal(err)
			}
			var sources []sourceOf
			for range 1 + r.IntN(3) {
				n := 1 + r.IntN(1500)
				sources = append(sources, sourceOf{writtenFile(t, s, properties, randomRecord(r, s, n)), randomVector(r, n)})
			}
			compareJoined(t, l, s, sources...)
		})
	}
}

// compareJoined compares the file that is joined with the one that is made row by row.
func compareJoined(t testing.TB, l *layout, s *schema.Type, sources ...sourceOf) {
	t.Helper()
	got, stats, err := joinedOf(t, l, s, false, sources...)
	if err != nil {
		t.Fatal(err)
	}
	want, wanted, err := joinedOf(t, l, s, true, sources...)
	if err != nil {
		t.Fatal(err)
	}
	if stats != wanted {
		t.Errorf("schema %s\nstatistics %s\nwant       %s", s, stats, wanted)
	}
	for _, body := range [][]byte{got, want} {
		for _, p := range everyPage(t, body) {
			if sum := int32(crc32.ChecksumIEEE(p.body)); p.header.CRC != sum {
				t.Errorf("a page has the checksum %d, and tells %d", sum, p.header.CRC)
			}
		}
	}
	if diff := cmp.Diff(textsOfFile(t, want, s), textsOfFile(t, got, s)); diff != "" {
		t.Errorf("schema %s\n%.2000s", s, diff)
	}
}

// everyPage are all pages of a file, dictionaries among them.
func everyPage(t testing.TB, body []byte) (pages []*sourcePage) {
	t.Helper()
	file, err := parquetfile.Open(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	for group := range file.RowGroups() {
		for leaf := range file.RowGroups()[group].ColumnChunks() {
			_, start, size, err := file.Chunk(group, leaf)
			if err != nil {
				t.Fatal(err)
			}
			for chunk := body[start:][:size]; len(chunk) > 0; {
				p, err := readPage(chunk)
				if err != nil {
					t.Fatal(err)
				}
				pages, chunk = append(pages, p), chunk[len(p.whole):]
			}
		}
	}
	return pages
}

// TestDamageInAnyPageIsRefused changes one byte of each page, texts and numbers that would be others then.
func TestDamageInAnyPageIsRefused(t *testing.T) {
	s := parseSchema(t, "id:string,n:long,word:string,f:double,items:array<int>")
	for _, properties := range []map[string]string{
		{codecProperty: "uncompressed"}, {codecProperty: "snappy"}, {codecProperty: "uncompressed", encodingProperty: "compact"},
	} {
		l, err := newLayout(s, properties, engineName, codec{})
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(7, 1))
		var rows []string
		for i := range 200 {
			rows = append(rows, fmt.Sprintf(`{"id":%q,"n":%d,"word":"w%d","f":%v,"items":[%d]}`, randomHex(r), r.Int64(), i%3, r.Float64(), i))
		}
		body := writtenFile(t, s, properties, record(t, s, "["+strings.Join(rows, ",")+"]"))
		pages := everyPage(t, body)
		if len(pages) < 6 {
			t.Fatalf("%d pages", len(pages))
		}
		for i, p := range pages {
			at := bytes.Index(body, p.whole) + len(p.whole) - 1
			body[at] ^= 1
			if _, err := columnTexts(t.Context(), body, s, nil, false); err == nil {
				t.Errorf("%v: page %d is read", properties, i)
			}
			if _, _, err := joinedOf(t, l, s, false, sourceOf{body: body}); !errors.Is(err, errDamaged) {
				t.Errorf("%v: page %d is joined: %v", properties, i, err)
			}
			body[at] ^= 1
		}
	}
}

// TestPagesOfVersion2BecomePagesOfTheirRows joins such as another program of our name may write: they cannot be copied, and end no page before its time.
func TestPagesOfVersion2BecomePagesOfTheirRows(t *testing.T) {
	const rows = 18_000
	r := rand.New(rand.NewPCG(7, 2))
	var body bytes.Buffer
	node := parquet.Group{"n": parquet.Optional(parquet.Int(64))}
	w := parquet.NewWriter(&body, parquet.NewSchema("own", node), parquet.CreatedBy(engineName, "1", "1"), parquet.DataPageVersion(2),
		parquet.PageBufferSize(2*copiedBytes), parquet.Compression(&parquet.Uncompressed))
	for range rows {
		if _, err := w.WriteRows([]parquet.Row{{parquet.Int64Value(r.Int64()).Level(0, 1, 0)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	large := 0
	for _, p := range everyPage(t, body.Bytes()) {
		if p.header.Type == format.DataPageV2 && len(p.body) >= copiedBytes {
			large++
		}
	}
	s := parseSchema(t, "n:long")
	l, err := newLayout(s, map[string]string{codecProperty: "uncompressed"}, engineName, codec{})
	if err != nil {
		t.Fatal(err)
	}
	compareJoined(t, l, s, sourceOf{body: body.Bytes()})
	joined, _, err := joinedOf(t, l, s, false, sourceOf{body: body.Bytes()})
	if err != nil {
		t.Fatal(err)
	}
	if n := pagesOf(t, joined); n != 1 || large < 3 {
		t.Errorf("%d large pages of version 2 became %d", large, n)
	}
}

func textsOfFile(t testing.TB, body []byte, s *schema.Type) []string {
	t.Helper()
	texts, err := columnTexts(t.Context(), body, s, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// TestPagesOfOthersAreJoinedWhereTheirLevelsMeanTheSame looks at files of the forms that writers have for lists, maps and structs.
func TestPagesOfOthersAreJoinedWhereTheirLevelsMeanTheSame(t *testing.T) {
	text, number := parquet.String(), parquet.Int(32)
	others := parquet.Group{"before": parquet.Optional(number), "behind": parquet.Optional(text)}
	list := func(of parquet.Group) parquet.Node { return parquet.Optional(annotatedList{of}) }
	for name, tc := range map[string]struct {
		ddl     string
		node    parquet.Node
		byPages bool
	}{
		"list of elements":             {"c:array<string>", parquet.Optional(parquet.List(parquet.Optional(text))), true},
		"list of other names":          {"c:array<string>", list(parquet.Group{"bag": parquet.Repeated(parquet.Group{"l": parquet.Optional(text)})}), true},
		"list of required elements":    {"c:array<string>", parquet.Optional(parquet.List(text)), false},
		"list of two levels":           {"c:array<string>", list(parquet.Group{"element": parquet.Repeated(text)}), false},
		"list of structs":              {"c:array<struct<a:string>>", parquet.Optional(parquet.List(parquet.Optional(parquet.Group{"a": parquet.Optional(text)}))), true},
		"repeated level is the struct": {"c:array<struct<a:string>>", list(parquet.Group{"array": parquet.Repeated(parquet.Group{"a": parquet.Optional(text)})}), false},
		"repeated level has it twice": {
			"c:array<struct<a:struct<x:int>>>",
			list(parquet.Group{"array": parquet.Repeated(parquet.Group{"a": parquet.Optional(parquet.Group{
				"x": parquet.Optional(number), "a": parquet.Optional(parquet.Group{"x": parquet.Optional(number)}),
			})})}), false,
		},
		"list of lists":             {"c:array<array<int>>", parquet.Optional(parquet.List(parquet.Optional(parquet.List(parquet.Optional(number))))), true},
		"map":                       {"c:map<string,int>", parquet.Optional(parquet.Map(text, parquet.Optional(number))), true},
		"struct":                    {"c:struct<a:int>", parquet.Optional(parquet.Group{"a": parquet.Optional(number)}), true},
		"struct with another field": {"c:struct<a:int>", parquet.Optional(parquet.Group{"a": parquet.Optional(number), "b": number}), true},
		"struct without the field":  {"c:struct<a:int>", parquet.Optional(parquet.Group{"b": parquet.Optional(number)}), false},
		"required inside":           {"c:struct<a:int not null>", parquet.Optional(parquet.Group{"a": number}), true},
		"required outside":          {"c:struct<a:int not null>", parquet.Group{"a": parquet.Optional(number)}, false},
		"byte":                      {"c:byte", parquet.Optional(parquet.Int(8)), true},
		"dictionary":                {"c:string", parquet.Optional(parquet.Encoded(text, &parquet.RLEDictionary)), true},
		"narrower number":           {"c:long", parquet.Optional(number), false},
		"struct for a number":       {"c:int", parquet.Optional(parquet.Group{"a": number}), false},
		"number for a struct":       {"c:struct<a:int>", parquet.Optional(number), false},
		"another column":            {"d:int", parquet.Optional(number), false},
		"no struct of lists":        {"d:struct<a:array<int>,b:map<string,struct<x:date>>>", parquet.Optional(number), false},
		"none where one has to be":  {"d:int not null", parquet.Optional(number), false},
		"pages that are not known":  {"c:string", parquet.Optional(parquet.Encoded(text, &parquet.DeltaByteArray)), false},
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(5, 1))
			s := parseSchema(t, "before:int,"+tc.ddl+",behind:string")
			l, err := newLayout(s, nil, engineName, codec{})
			if err != nil {
				t.Fatal(err)
			}
			columns := maps.Clone(others)
			columns["c"] = tc.node
			var sources []sourceOf
			for i := range 4 {
				sources = append(sources, sourceOf{writtenByOthers(t, r, columns, 400, 1+i%2), randomVector(r, 400)})
			}
			f, err := new(sourceOpener).open(l, place{}, memObject{bytes.NewReader(sources[0].body)})
			if err != nil || !f.joins || tc.byPages != (len(f.byRow)+len(f.absent) == 0) {
				t.Fatalf("pages are joined but of %d columns, %d are absent: %v", len(f.byRow), len(f.absent), err)
			}
			if _, _, err := joinedOf(t, l, s, true, sources...); err != nil {
				if _, _, joined := joinedOf(t, l, s, false, sources...); joined == nil {
					t.Fatalf("joined are pages of what is refused by rows: %v", err)
				}
				return
			}
			compareJoined(t, l, s, sources...)
		})
	}
}

// annotatedList is a LIST with the names that a writer likes.
type annotatedList struct{ parquet.Group }

func (annotatedList) Type() parquet.Type { return parquet.List(parquet.String()).Type() }

// writtenByOthers is a file of random rows in small pages of a version.
func writtenByOthers(t testing.TB, r *rand.Rand, columns parquet.Group, rows, version int) []byte {
	t.Helper()
	var body bytes.Buffer
	w := parquet.NewWriter(&body, parquet.NewSchema("foreign", columns), parquet.PageBufferSize(500), parquet.DataPageVersion(version), parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(250))
	for range rows {
		if _, err := w.WriteRows([]parquet.Row{stripedRow(r, columns)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return body.Bytes()
}

// stripedRow is a random row of a schema, as the Dremel paper has it.
func stripedRow(r *rand.Rand, columns parquet.Group) (row parquet.Row) {
	leaf := 0
	var visit, inside func(n parquet.Node, there bool, first, rep, def int)
	visit = func(n parquet.Node, there bool, first, rep, def int) {
		switch {
		case n.Repeated():
			items := r.IntN(4)
			if !there || items == 0 {
				inside(n, false, first, rep+1, def)
				return
			}
			from := leaf
			for i := range items {
				if leaf = from; i > 0 {
					first = rep + 1
				}
				inside(n, true, first, rep+1, def+1)
			}
		case n.Optional() && there && r.IntN(5) > 0:
			inside(n, true, first, rep, def+1)
		default:
			inside(n, there && n.Required(), first, rep, def)
		}
	}
	inside = func(n parquet.Node, there bool, first, rep, def int) {
		if !n.Leaf() {
			for _, f := range n.Fields() {
				visit(f, there, first, rep, def)
			}
			return
		}
		v := parquet.NullValue()
		switch {
		case there && n.Type().Kind() == parquet.Int32:
			v = parquet.Int32Value(r.Int32N(256) - 128)
		case there && n.Type().Kind() == parquet.Int64:
			v = parquet.Int64Value(r.Int64())
		case there:
			v = parquet.ByteArrayValue([]byte(randomHex(r)[:1+r.IntN(3)]))
		}
		row = append(row, v.Level(first, def, leaf))
		leaf++
	}
	for _, f := range columns.Fields() {
		visit(f, true, 0, 0, 0)
	}
	slices.SortStableFunc(row, func(a, b parquet.Value) int { return a.Column() - b.Column() })
	return row
}

// chunkOf are pages of version 1 of a list of numbers: each has the levels and values given.
func chunkOf(t *testing.T, l *leaf, pages ...pageEntries) *sourceChunk {
	t.Helper()
	c := &sourceChunk{leaf: l, codec: format.Uncompressed, pages: &pageDecoder{}}
	for _, p := range pages {
		var body []byte
		for i, levels := range [][]uint8{p.rep, p.def} {
			packed := appendHybrid(nil, levels, 1+i)
			body = append(binary.LittleEndian.AppendUint32(body, uint32(len(packed))), packed...)
		}
		body = append(body, plain(p.at)...)
		header, err := marshal(format.PageHeader{
			Type: format.DataPage, UncompressedPageSize: int32(len(body)), CompressedPageSize: int32(len(body)),
			DataPageHeader: thrift.New(format.DataPageHeader{
				NumValues: int32(len(p.def)), Encoding: format.Plain, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		c.values += int64(len(p.def))
		c.bytes = append(append(c.bytes, header...), body...)
	}
	return c
}

// TestRowsThatGoOnInTheNextPage joins pages that begin inside a row, as some old writers end them. Our pages begin where rows do.
func TestRowsThatGoOnInTheNextPage(t *testing.T) {
	s := parseSchema(t, "c:array<int>")
	l, err := newLayout(s, map[string]string{pageSizeProperty: "1"}, engineName, codec{compressor: stored{}})
	if err != nil {
		t.Fatal(err)
	}
	page := func(rep []uint8, values ...int32) pageEntries {
		return pageEntries{levelled{rep: rep, def: bytes.Repeat([]byte{3}, len(rep))}, values}
	}
	pages := []pageEntries{page([]uint8{0, 1, 0}, 1, 2, 3), page([]uint8{1, 1}, 4, 5), page([]uint8{1, 0, 0, 1}, 6, 7, 8, 9)}
	rows := []string{"c=[1;2;] ", "c=[3;4;5;6;] ", "c=[7;] ", "c=[8;9;] "}
	for deleted := range uint64(16) {
		var out bytes.Buffer
		e := newEncoder(l, 1, &workspace{})
		if err := e.begin(&out); err != nil {
			t.Fatal(err)
		}
		c := chunkOf(t, l.leaves[0], pages...)
		if err := e.joinChunk(0, c, sourceRows{end: 4, deleted: deletionVector{deleted}}); err != nil {
			t.Fatal(err)
		}
		var want []string
		for i, row := range rows {
			if deleted>>i&1 == 0 {
				want = append(want, row)
			}
		}
		e.groupRows = int64(len(want))
		if _, err := e.end(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, textsOfFile(t, out.Bytes(), s)); diff != "" {
			t.Errorf("deleted %04b: %s", deleted, diff)
		}
		if len(want) > 0 {
			checkPagesBeginRows(t, l, out.Bytes())
		}
	}
	for name, rows := range map[string]sourceRows{"too few rows": {end: 5}, "too many": {end: 3}} {
		e := newEncoder(l, 1, &workspace{})
		if err := e.joinChunk(0, chunkOf(t, l.leaves[0], pages...), rows); !errors.Is(err, errDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	e := newEncoder(l, 1, &workspace{})
	if err := e.joinChunk(0, chunkOf(t, l.leaves[0], pages[1:]...), sourceRows{end: 2}); !errors.Is(err, errDamaged) {
		t.Errorf("a row group that begins inside a row: %v", err)
	}
}

func TestFootersThatCountOtherRowsAreRefused(t *testing.T) {
	s := parseSchema(t, "a:long")
	l, err := newLayout(s, nil, engineName, codec{})
	if err != nil {
		t.Fatal(err)
	}
	body := writtenFile(t, s, nil, record(t, s, `[{"a":1},{"a":2}]`))
	for rows, says := range map[int64]string{1: "more than its 1 rows", 3: "lack 1 rows"} {
		f, err := new(sourceOpener).open(l, place{}, memObject{bytes.NewReader(body)})
		if err != nil {
			t.Fatal(err)
		}
		f.footer.Rows = rows
		e := newEncoder(l, 1, &workspace{})
		if err := e.join(t.Context(), f, nil); !errors.Is(err, errDamaged) || !strings.Contains(err.Error(), says) {
			t.Errorf("%d rows: %v", rows, err)
		}
	}
}

// checkPagesBeginRows looks at the pages of a file's first leaf, which is in a list.
func checkPagesBeginRows(t *testing.T, l *layout, body []byte) {
	t.Helper()
	var decoder pageDecoder
	f, err := new(sourceOpener).open(l, place{}, memObject{bytes.NewReader(body)})
	if err != nil {
		t.Fatal(err)
	}
	c, err := f.chunk(0, 0, l.leaves[0], &decoder)
	if err == nil {
		err = c.each(func(p *sourcePage) error {
			page, err := c.decode(p)
			if err == nil && page.rep[0] != 0 {
				err = errors.New("a page begins inside a row")
			}
			return err
		})
	}
	if err != nil {
		t.Error(err)
	}
}

// FuzzJoinedPages holds that a damaged file is joined as what a reader sees in it, or is refused.
func FuzzJoinedPages(f *testing.F) {
	r := rand.New(rand.NewPCG(9, 20))
	s := parseSchema(f, "a:long,s:struct<x:timestamp,y:string>,l:array<int>,m:map<string,date>,d:decimal(20,2),b:boolean,n:short")
	l, err := newLayout(s, map[string]string{codecProperty: "uncompressed"}, engineName, codec{})
	if err != nil {
		f.Fatal(err)
	}
	for _, encoding := range []string{"compatible", "compact"} {
		properties := map[string]string{codecProperty: "uncompressed", encodingProperty: encoding}
		f.Add(parquettest.WithoutChecksums(f, writtenFile(f, s, properties, randomRecord(r, s, 20))))
		before := parseSchema(f, "a:int,s:struct<x:timestamp,y:string>,d:decimal(9,1),n:byte") // columns were widened and added since
		f.Add(parquettest.WithoutChecksums(f, writtenFile(f, before, properties, randomRecord(r, before, 20))))
	}
	second := parquet.Group{"a": parquet.Optional(parquet.Int(64)), "l": parquet.Optional(parquet.List(parquet.Optional(parquet.Int(32))))}
	f.Add(parquettest.WithoutChecksums(f, writtenByOthers(f, r, second, 20, 2)))
	f.Fuzz(func(t *testing.T, body []byte) {
		source := sourceOf{body, deletionVector{0b1010_0110, 0, 0, 0}}
		got, _, err := joinedOf(t, l, s, false, source)
		if err != nil {
			return
		}
		joined, err := columnTexts(t.Context(), got, s, nil, false)
		if err != nil {
			t.Fatalf("what was joined cannot be read: %v", err)
		}
		read, err := columnTexts(t.Context(), body, s, source.deleted, false)
		if err != nil {
			return // another decoder is stricter in places
		}
		if diff := cmp.Diff(read, joined); diff != "" {
			t.Fatal(diff)
		}
	})
}
