package parquetfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/sluicedata/sluice/internal/parquettest"
)

// oracle decodes by parquet-go what some bytes begin with.
func oracle(b []byte, v any) (n int, err error) {
	defer Recover(&err)
	r := (&thrift.CompactProtocol{}).NewReaderFromBytes(b)
	err = thrift.NewDecoder(r).Decode(v)
	return r.BytesRead(), err
}

// footerOf is what a Footer has of metadata, but for its schema.
func footerOf(m *format.FileMetaData) *Footer {
	f := &Footer{CreatedBy: []byte(m.CreatedBy), Rows: m.NumRows}
	for _, g := range m.RowGroups {
		group := Group{Rows: g.NumRows}
		for _, c := range g.Columns {
			of := &c.MetaData
			chunk := Chunk{Codec: of.Codec, Values: of.NumValues, data: of.DataPageOffset, dictionary: of.DictionaryPageOffset, size: of.TotalCompressedSize}
			for _, s := range of.EncodingStats {
				chunk.PageTypes |= 1 << s.PageType
				chunk.Encodings |= 1 << s.Encoding
			}
			group.Chunks = append(group.Chunks, chunk)
		}
		f.Groups = append(f.Groups, group)
	}
	return f
}

// compareFooter holds a footer that is read against parquet-go's reading, where that reads it at all, and its schema against its own bytes.
func compareFooter(t *testing.T, b []byte, got *Footer) {
	t.Helper()
	var want format.FileMetaData
	if n, err := oracle(b, &want); err != nil || n != len(b) {
		return
	}
	if diff := cmp.Diff(footerOf(&want), got, cmp.AllowUnexported(Chunk{}), cmpopts.IgnoreUnexported(Footer{}), cmpopts.IgnoreFields(Footer{}, "Schema"), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%x: %s", b, diff)
	}
	// A structure of the same elements and nothing else.
	var alone struct {
		Schema thrift.Slice[format.SchemaElement] `thrift:"2"`
	}
	if _, err := oracle(slices.Concat([]byte{2<<4 | compactList}, got.Schema, []byte{0}), &alone); err != nil || !cmp.Equal(alone.Schema, want.Schema) {
		t.Fatalf("%x: the schema is not in %x: %v", b, got.Schema, err)
	}
}

// footerBytes is the encoded footer of a file.
func footerBytes(file []byte) []byte {
	end := len(file) - 8
	return file[end-int(binary.LittleEndian.Uint32(file[end:])) : end]
}

func TestFooterSaysWhatParquetGoReads(t *testing.T) {
	var f Footer // in the memory of the one before
	for _, rows := range []int{2000, 0, 1, 700, 3000} {
		for version := 1; version <= 2; version++ {
			file := fileOf(t, rowsOf(rows), version, &parquet.Snappy)
			ok, err := f.Read(bytes.NewReader(file), int64(len(file)))
			if err != nil || !ok {
				t.Fatalf("%d rows: %t, %v", rows, ok, err)
			}
			compareFooter(t, footerBytes(file), &f)
			if int(f.Rows) != rows || len(f.Groups) != (rows+699)/700 {
				t.Errorf("%d rows in %d groups, want %d", f.Rows, len(f.Groups), rows)
			}
			open, err := Open(bytes.NewReader(file), int64(len(file)))
			if err != nil {
				t.Fatal(err)
			}
			for g := range f.Groups {
				for c := range f.Groups[g].Chunks {
					start, size, err1 := f.Range(g, c)
					_, wantStart, wantSize, err2 := open.Chunk(g, c)
					if start != wantStart || size != wantSize || err1 != nil || err2 != nil {
						t.Fatalf("row group %d, leaf %d: %d bytes from %d on, %v; want %d from %d, %v", g, c, size, start, err1, wantSize, wantStart, err2)
					}
				}
			}
		}
	}
}

func TestFooterOfAnotherFormIsNotRead(t *testing.T) {
	file := fileOf(t, rowsOf(9), 1, &parquet.Snappy)
	encoded := footerBytes(file)
	with := func(change func(m *format.FileMetaData)) []byte {
		var m format.FileMetaData
		if _, err := oracle(encoded, &m); err != nil {
			t.Fatal(err)
		}
		change(&m)
		return parquettest.EndedBy(t, []byte(magic), &m)
	}
	for name, b := range map[string][]byte{
		"of too few bytes":       []byte("PAR1"),
		"that is encrypted":      append(bytes.Clone(file[:len(file)-4]), "PARE"...),
		"that is no footer":      []byte("PAR1whatever\x08\x00\x00\x00PAR1"),
		"longer than the file":   append(bytes.Clone(file[:len(file)-8]), "\xff\xff\xff\x7fPAR1"...),
		"of a file in parts":     with(func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].FilePath = "other" }),
		"with a negative number": with(func(m *format.FileMetaData) { m.NumRows = -1 }),
		"signed":                 with(func(m *format.FileMetaData) { m.FooterSigningKeyMetadata = []byte("key") }),
	} {
		var f Footer
		if ok, err := f.Read(bytes.NewReader(b), int64(len(b))); ok || err != nil {
			t.Errorf("a footer %s: %t, %v", name, ok, err)
		}
	}
	same := with(func(*format.FileMetaData) {})
	if ok, err := new(Footer).Read(bytes.NewReader(same), int64(len(same))); !ok || err != nil {
		t.Errorf("the footer as it is: %t, %v", ok, err)
	}
}

// TestFooterThatAsksForMoreThanItHasIsDamaged has lists and a text of more than there is memory for.
func TestFooterThatAsksForMoreThanItHasIsDamaged(t *testing.T) {
	for name, footer := range map[string]string{
		"a list":                "\x15\x02\x19\xfc\xff\xff\xff\xff\x07\x00",
		"a list in a row group": "\x15\x02\x19\x0c\x16\x00\x19\x1c\x19\xfc\xff\xff\xff\xff\x07\x00\x00",
		"a text":                "\x15\x02\x48\xff\xff\xff\xff\x07\x00",
		"a list of no elements": "\x15\x02\x19\xf0\xff\xff\xff\xff\x07\x00",
		"more than its own end": "\x15\x02\x19\x1c",
	} {
		file := append(binary.LittleEndian.AppendUint32([]byte(magic+footer), uint32(len(footer))), magic...)
		if _, err := Open(bytes.NewReader(file), int64(len(file))); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestChunkBeyondTheFileIsDamaged(t *testing.T) {
	f := Footer{size: 100, Groups: []Group{{Chunks: []Chunk{{data: 40, dictionary: 30, size: 70}, {data: 40, size: 61}, {data: 101}, {data: 40, size: 60}}}}}
	for leaf, want := range []struct {
		start, size int64
		err         error
	}{{30, 70, nil}, {0, 0, ErrDamaged}, {0, 0, ErrDamaged}, {40, 60, nil}} {
		if start, size, err := f.Range(0, leaf); start != want.start || size != want.size || err != want.err {
			t.Errorf("leaf %d: %d, %d, %v, want %v", leaf, start, size, err, want)
		}
	}
}

func FuzzFooter(f *testing.F) {
	for version := 1; version <= 2; version++ {
		f.Add(footerBytes(fileOf(f, rowsOf(20), version, &parquet.Snappy)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var got Footer
		if got.parse(b, int64(len(b))) {
			compareFooter(t, b, &got)
		}
	})
}

// FuzzPageHeader holds headers of pages against parquet-go's reading, where that reads them at all.
func FuzzPageHeader(f *testing.F) {
	statistics := format.Statistics{NullCount: 3, MinValue: []byte("a"), MaxValue: []byte("z"), DistinctCount: 8}
	for _, h := range []format.PageHeader{
		{Type: format.DataPage, UncompressedPageSize: 1000, CompressedPageSize: 800, CRC: 7, DataPageHeader: thrift.New(format.DataPageHeader{
			NumValues: 90, Encoding: format.RLEDictionary, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.BitPacked, Statistics: statistics,
		})},
		{Type: format.DictionaryPage, UncompressedPageSize: 1000, CompressedPageSize: 800, DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: 90, IsSorted: true})},
		{Type: format.DataPageV2, DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{NumValues: 90, NumNulls: 1, NumRows: 90, Encoding: format.DeltaByteArray})},
	} {
		b, err := thrift.Marshal(&thrift.CompactProtocol{}, h)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(append(b, "and a body"...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, n, err := ReadPageHeader(b)
		if err != nil {
			return
		}
		var want format.PageHeader
		wantN, err := oracle(b, &want)
		if err != nil {
			return
		}
		known := format.PageHeader{Type: want.Type, UncompressedPageSize: want.UncompressedPageSize, CompressedPageSize: want.CompressedPageSize, CRC: want.CRC}
		if h, ok := want.DataPageHeader.Get(); ok {
			h.Statistics = format.Statistics{NullCount: h.Statistics.NullCount, MinValue: h.Statistics.MinValue, MaxValue: h.Statistics.MaxValue}
			known.DataPageHeader = thrift.New(h)
		}
		if h, ok := want.DataPageHeaderV2.Get(); ok {
			h.Statistics = format.Statistics{}
			known.DataPageHeaderV2 = thrift.New(h)
		}
		if h, ok := want.DictionaryPageHeader.Get(); ok {
			known.DictionaryPageHeader = thrift.New(format.DictionaryPageHeader{NumValues: h.NumValues, Encoding: h.Encoding})
		}
		if diff := cmp.Diff(known, got, cmpopts.EquateEmpty(), cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" || n != wantN {
			t.Fatalf("%x: %d bytes, want %d: %s", b, n, wantN, diff)
		}
	})
}
