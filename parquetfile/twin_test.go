package parquetfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/format"

	"github.com/sluicedata/sluice/internal/parquettest"
)

// row has columns whose pages become shorter by much, by little and not at all, with and without dictionaries, nulls and lists.
type row struct {
	Number int64    `parquet:"number"`
	Noise  string   `parquet:"noise,plain"`
	Same   string   `parquet:"same,plain"`
	Few    string   `parquet:"few,dict"`
	Maybe  *int32   `parquet:"maybe,optional"`
	Texts  []string `parquet:"texts,list"`
	Flag   bool     `parquet:"flag"`
}

func rowsOf(n int) []row {
	r := rand.New(rand.NewPCG(4, 4))
	rows := make([]row, n)
	for i := range rows {
		noise := make([]byte, r.IntN(300))
		for j := range noise {
			noise[j] = byte(r.IntN(256))
		}
		rows[i] = row{Number: r.Int64(), Noise: string(noise), Same: "the same in all rows", Few: fmt.Sprint(r.IntN(9)), Flag: i%3 == 0}
		if i%2 == 0 {
			rows[i].Maybe = new(int32(i))
		}
		for range i % 4 {
			rows[i].Texts = append(rows[i].Texts, string(noise[:len(noise)/2]))
		}
	}
	return rows
}

func fileOf(t testing.TB, rows []row, version int, codec compress.Codec) []byte {
	var b bytes.Buffer
	err := parquet.Write(&b, rows, parquet.Compression(codec), parquet.DataPageVersion(version), parquet.PageBufferSize(4<<10), parquet.MaxRowsPerRowGroup(700))
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// valuesOf reads all columns of a file.
func valuesOf(b []byte) (values []string, err error) {
	defer Recover(&err)
	file, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	for group, g := range file.RowGroups() {
		for leaf := range g.ColumnChunks() {
			c := file.Cursor(group, leaf)
			for {
				ok, err := c.Peek()
				if err != nil {
					return nil, err
				}
				if !ok {
					break
				}
				values = append(values, fmt.Sprintf("%+v", c.Next()))
			}
			if err := c.Close(); err != nil {
				return nil, err
			}
		}
	}
	return values, nil
}

func TestValuesInLZ4AreThoseInNoCodec(t *testing.T) {
	for _, n := range []int{0, 1, 2000} {
		rows := rowsOf(n)
		for version := 1; version <= 2; version++ {
			want, err := valuesOf(fileOf(t, rows, version, &parquet.Uncompressed))
			if err != nil {
				t.Fatal(err)
			}
			got, err := valuesOf(fileOf(t, rows, version, &parquet.Lz4Raw))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%d rows, version %d of pages: %s", n, version, diff)
			}
		}
	}
}

// TestEachRowGroupMayHaveItsOwnCodec joins the row groups of files with different codecs.
func TestEachRowGroupMayHaveItsOwnCodec(t *testing.T) {
	rows := rowsOf(500)
	plain, snappy := fileOf(t, rows, 1, &parquet.Uncompressed), fileOf(t, rows, 1, &parquet.Snappy)
	want, err := valuesOf(plain)
	if err != nil {
		t.Fatal(err)
	}
	for _, files := range [][2][]byte{{plain, snappy}, {snappy, plain}} {
		got, err := valuesOf(joined(t, files[0], files[1]))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(slices.Concat(want, want), got); diff != "" {
			t.Fatal(diff)
		}
	}
}

// joined is a file with the row groups of two.
func joined(t *testing.T, first, second []byte) []byte {
	t.Helper()
	footer := func(b []byte) (*format.FileMetaData, []byte) {
		file, err := Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		return file.Metadata(), b[:len(b)-8-int(binary.LittleEndian.Uint32(b[len(b)-8:]))]
	}
	m, body := footer(first)
	more, behind := footer(second)
	for _, g := range more.RowGroups {
		for i := range g.Columns {
			c := &g.Columns[i].MetaData
			c.DataPageOffset += int64(len(body))
			if c.DictionaryPageOffset > 0 {
				c.DictionaryPageOffset += int64(len(body))
			}
		}
		m.RowGroups = append(m.RowGroups, g)
	}
	m.NumRows += more.NumRows
	return parquettest.EndedBy(t, slices.Concat(body, behind), m)
}

// uncompress is LZ4's block format read byte by byte, as its description has it, but for one thing: a block may end with a match, though none
// that is written does, since all its bytes are told all the same.
func uncompress(src []byte, most int) ([]byte, error) {
	short := errors.New("short")
	var dst []byte
	at := 0
	next := func() (int, error) {
		if at++; at > len(src) {
			return 0, short
		}
		return int(src[at-1]), nil
	}
	length := func(n int) (int, error) {
		for more := n == 15; more; {
			b, err := next()
			if err != nil {
				return 0, err
			}
			n += b
			more = b == 255
		}
		return n, nil
	}
	for {
		token, err := next()
		if err != nil {
			return nil, err
		}
		literals, err := length(token >> 4)
		if err != nil || literals > len(src)-at || len(dst)+literals > most {
			return nil, short
		}
		dst = append(dst, src[at:at+literals]...)
		if at += literals; at == len(src) {
			return dst, nil
		}
		low, err1 := next()
		high, err2 := next()
		offset := low | high<<8
		n, err3 := length(token & 15)
		if err := errors.Join(err1, err2, err3); err != nil || offset == 0 || offset > len(dst) || len(dst)+n+4 > most {
			return nil, errors.Join(err, short)
		}
		for range n + 4 {
			dst = append(dst, dst[len(dst)-offset])
		}
		if at == len(src) {
			return dst, nil
		}
	}
}

func TestPagesThatAreNotAsLongAsTheySayAreDamaged(t *testing.T) {
	block, err := parquet.Lz4Raw.Encode(nil, []byte("a text that is that is that is that is twice in it"))
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{-1, 0, 1, 49, 51, 1 << 30} {
		got, err := Decompress(nil, block, format.Lz4Raw, size)
		if size == 0 && len(got) == 0 && err == nil {
			continue
		}
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	if _, err := Decompress(nil, nil, format.Uncompressed, 1); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
}

// FuzzLZ4 holds blocks of LZ4 against the dumb reading of them.
func FuzzLZ4(f *testing.F) {
	for _, plain := range []string{"", "a", "a text that is that is that is that is twice in it"} {
		block, err := parquet.Lz4Raw.Encode(nil, []byte(plain))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(block, uint16(len(plain)))
	}
	f.Fuzz(func(t *testing.T, block []byte, size uint16) {
		got, err := Decompress(nil, block, format.Lz4Raw, int(size))
		want, dumb := uncompress(block, int(size))
		if err == nil && size > 0 && (dumb != nil || !bytes.Equal(got, want)) {
			t.Fatalf("%x: %x, %x, %v", block, got, want, dumb)
		}
	})
}

// FuzzLZ4File holds that a file that is damaged is read as another one, or refused.
func FuzzLZ4File(f *testing.F) {
	for version := 1; version <= 2; version++ {
		f.Add(parquettest.WithoutChecksums(f, fileOf(f, rowsOf(20), version, &parquet.Lz4Raw)))
	}
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = valuesOf(b) })
}
