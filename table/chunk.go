package table

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/sluicedata/sluice/parquetfile"
	"github.com/sluicedata/sluice/schema"
)

// chunk is the column chunk of one leaf in the row group that is being filled: the page to come, and the pages before it,
// compressed. Not safe for concurrent use.
type chunk struct {
	leaf      *leaf
	codec     codec
	values    pageValues
	workspace *workspace
	filter    *bloomFilter // nil: there is none

	// The page to come.
	levels int // values, absent ones included
	rows   int
	nulls  int64
	def    []uint8 // absent as long as no value is
	rep    []uint8 // of leaves in lists
	joined joined  // its values, if all of them are those of pages of other files

	// The pages before it.
	pages    blocks // each page behind its header
	light    bool   // they are as the codec's light form makes them
	settled  bool   // that cannot be changed any more in this file
	raw      int64  // what they take uncompressed, headers included
	metadata format.ColumnMetaData
	columns  format.ColumnIndex
	offsets  format.OffsetIndex // relative to the first page
	bounded  bool               // every page with values has limits
	firstRow int64              // of the page to come, in the row group
}

// leaf is what all chunks of a leaf have in common.
type leaf struct {
	path      []string // of stored names
	typ       *schema.Type
	physical  format.Type
	annotated string // the type with its annotation, as parquet-go tells it
	maxDef    int
	maxRep    int
	filtered  bool // its chunks have Bloom filters
}

// isText says that the leaf's values have no width of their own.
func (l *leaf) isText() bool { return l.physical == format.ByteArray }

// width is the number of bytes of a PLAIN value, 0 where it has not always the same.
func (l *leaf) width() int {
	switch l.physical {
	case format.Int32, format.Float:
		return 4
	case format.Int64, format.Double:
		return 8
	case format.FixedLenByteArray:
		return schema.DecimalBytes(l.typ.Precision)
	default:
		return 0
	}
}

func newChunk(l *leaf, c codec, values pageValues, w *workspace) *chunk {
	k := &chunk{leaf: l, codec: c, values: values, workspace: w, pages: blocks{workspace: w}}
	if l.filtered {
		k.filter = newBloomFilter()
	}
	k.beginGroup()
	return k
}

func (k *chunk) beginFile() {
	k.values.endFile()
	k.settled = false
	k.beginGroup()
}

func (k *chunk) beginGroup() {
	k.pages.reset()
	k.light = k.light && k.settled
	k.raw, k.firstRow, k.bounded = 0, 0, true
	k.metadata = format.ColumnMetaData{
		Type: k.leaf.physical, PathInSchema: k.leaf.path,
		Encoding: []format.Encoding{format.RLE}, // of the levels
	}
	k.columns, k.offsets = format.ColumnIndex{}, format.OffsetIndex{}
}

// add takes in values of an array, by their index, and the levels of these and of absent ones, of so many rows.
func (k *chunk) add(values arrow.Array, at []int32, l levelled, rows int) {
	k.addLevels(l, rows)
	if len(at) > 0 {
		k.values.add(values, at)
	}
}

// addLevels takes in the levels of entries, of so many rows, whose values are taken in otherwise.
func (k *chunk) addLevels(l levelled, rows int) {
	k.rep = append(k.rep, l.rep...)
	if l.absent > 0 && k.nulls == 0 {
		k.def = appendTimes(k.def, uint8(k.leaf.maxDef), k.levels)
	}
	switch {
	case l.absent > 0:
		k.def = append(k.def, l.def...)
	case k.nulls > 0:
		k.def = appendTimes(k.def, uint8(k.leaf.maxDef), l.levels)
	}
	k.levels += l.levels
	k.rows += rows
	k.nulls += int64(l.absent)
}

func appendTimes[T uint8 | uint32 | int](b []T, v T, times int) []T {
	n := len(b)
	b = slices.Grow(b, times)[:n+times]
	for i := range b[n:] {
		b[n+i] = v
	}
	return b
}

// buffered is about what the page to come takes, in bytes.
func (k *chunk) buffered() int64 { return k.values.size() + int64(k.joined.size+len(k.def)+len(k.rep)) }

// memory is about what the chunk takes, in bytes.
func (k *chunk) memory() int64 {
	n := k.pages.memory() + k.buffered()
	if values, ok := k.values.(indexed); ok {
		n += values.memory()
	}
	if k.filter != nil {
		n += k.filter.memory()
	}
	return n
}

// endPage encodes and compresses the page to come, if there is anything in it.
func (k *chunk) endPage() error {
	if k.levels == 0 {
		return nil
	}
	work := k.workspace.page()
	defer k.workspace.release(work)
	work.body = k.appendLevels(work.body[:0])
	if k.joined.size > 0 {
		return k.endJoined(work)
	}
	body, encoding, err := k.values.encode(work)
	if err != nil {
		return fmt.Errorf("encode column %v: %w", k.leaf.path, err)
	}
	if values, ok := k.values.(hashed); ok && k.filter != nil {
		values.hash(k.filter)
	}
	compressed, err := k.compress(work, body, encoding)
	if err != nil {
		return fmt.Errorf("compress column %v: %w", k.leaf.path, err)
	}
	return k.putData(work, len(body), compressed, encoding)
}

// putData appends the page to come, which has been compressed from so many bytes.
func (k *chunk) putData(work *pageWork, raw int, compressed []byte, encoding format.Encoding) error {
	limits := k.values.page()
	before := int64(k.pages.len())
	if err := k.put(&k.pages, work, raw, compressed, format.PageHeader{
		Type: format.DataPage,
		DataPageHeader: thrift.New(format.DataPageHeader{
			NumValues: int32(k.levels), Encoding: encoding, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
			Statistics: k.statistics(limits, k.nulls),
		}),
	}); err != nil {
		return err
	}
	k.appended(encoding, limits, before)
	k.values.endPage()
	return nil
}

// endJoinedPage ends the page to come where its values are in a form that takes in no others.
func (k *chunk) endJoinedPage() error {
	if k.joined.size == 0 {
		return nil
	}
	return k.endPage()
}

// copyPage appends a page that another file has, as it is. There is no page to come.
func (k *chunk) copyPage(c *sourceChunk, p *sourcePage) error {
	if err := k.turnTo(c.codec); err != nil {
		return err
	}
	before := int64(k.pages.len())
	if err := k.copyBody(c, p); err != nil {
		return err
	}
	k.levels, k.rows, k.nulls = p.levels(), p.levels(), p.data.Statistics.NullCount
	k.appended(p.data.Encoding, limits{p.data.Statistics.MinValue, p.data.Statistics.MaxValue, true}, before)
	k.values.endPage()
	return nil
}

// appended takes note of the page that was appended behind so many bytes, and begins the next.
func (k *chunk) appended(encoding format.Encoding, l limits, before int64) {
	k.index(l, before)
	k.count(format.DataPage, encoding)
	k.metadata.NumValues += int64(k.levels)
	k.metadata.Statistics.NullCount += k.nulls
	k.firstRow += int64(k.rows)
	k.levels, k.rows, k.nulls, k.def, k.rep = 0, 0, 0, k.def[:0], k.rep[:0]
}

// appendLevels appends the page's levels as a data page of version 1 has them in front of its values.
func (k *chunk) appendLevels(b []byte) []byte {
	if k.leaf.maxRep > 0 {
		b = withLength(b, func(b []byte) []byte { return appendHybrid(b, k.rep, widthOf(k.leaf.maxRep)) })
	}
	if k.leaf.maxDef > 0 {
		b = withLength(b, func(b []byte) []byte {
			if k.nulls == 0 {
				return appendRun(b, k.levels, uint32(k.leaf.maxDef), widthOf(k.leaf.maxDef))
			}
			return appendHybrid(b, k.def, widthOf(k.leaf.maxDef))
		})
	}
	return b
}

// withLength appends what fill does, with its length in front.
func withLength(b []byte, fill func([]byte) []byte) []byte {
	start := len(b)
	b = fill(append(b, 0, 0, 0, 0))
	binary.LittleEndian.PutUint32(b[start:], uint32(len(b)-start-4))
	return b
}

// put writes a page, whose body has been compressed from so many bytes, behind its header, which gets its sizes and its checksum.
func (k *chunk) put(to io.Writer, work *pageWork, raw int, compressed []byte, header format.PageHeader) (err error) {
	header.UncompressedPageSize, header.CompressedPageSize = int32(raw), int32(len(compressed))
	header.CRC = parquetfile.Checksum(compressed)
	if work.header, err = marshal(header); err != nil {
		return err
	}
	k.raw += int64(len(work.header) + raw)
	if _, err = to.Write(work.header); err == nil {
		_, err = to.Write(compressed)
	}
	return err
}

// index adds the page that was just appended behind so many bytes to the chunk's indexes.
func (k *chunk) index(l limits, before int64) {
	k.offsets.PageLocations = append(k.offsets.PageLocations, format.PageLocation{
		Offset: before, CompressedPageSize: int32(int64(k.pages.len()) - before), FirstRowIndex: k.firstRow,
	})
	onlyNulls := k.nulls == int64(k.levels)
	if !onlyNulls && !l.ok {
		k.bounded = false
	}
	if !l.ok {
		l = limits{}
	}
	k.columns.NullPages = append(k.columns.NullPages, onlyNulls)
	k.columns.NullCounts = append(k.columns.NullCounts, k.nulls)
	k.columns.MinValues = append(k.columns.MinValues, slices.Clone(l.low))
	k.columns.MaxValues = append(k.columns.MaxValues, slices.Clone(l.high))
}

// count adds a page to the chunk's counts of encodings.
func (k *chunk) count(page format.PageType, encoding format.Encoding) {
	if !slices.Contains(k.metadata.Encoding, encoding) {
		k.metadata.Encoding = append(k.metadata.Encoding, encoding)
	}
	for i := range k.metadata.EncodingStats {
		if s := &k.metadata.EncodingStats[i]; s.PageType == page && s.Encoding == encoding {
			s.Count++
			return
		}
	}
	k.metadata.EncodingStats = append(k.metadata.EncodingStats, format.PageEncodingStats{PageType: page, Encoding: encoding, Count: 1})
}

func (k *chunk) statistics(l limits, nulls int64) format.Statistics {
	s := format.Statistics{NullCount: nulls}
	if l.ok { // an empty value is a limit, and nil is none
		s.MinValue, s.MaxValue = append([]byte{}, l.low...), append([]byte{}, l.high...)
	}
	return s
}

// written is a chunk in a file.
type written struct {
	chunk   format.ColumnChunk
	columns *format.ColumnIndex // nil: there is none
	offsets format.OffsetIndex
}

// writeTo writes the chunk's pages, the dictionary first, and begins a new row group.
func (k *chunk) writeTo(out *countingWriter) (w written, err error) {
	if err := k.endPage(); err != nil {
		return w, err
	}
	m := &k.metadata
	m.Codec = k.compressor().CompressionCodec()
	start := out.n
	if err := k.writeDictionary(out); err != nil {
		return w, err
	}
	m.DataPageOffset = out.n
	if err := k.pages.writeTo(out); err != nil {
		return w, err
	}
	for i := range k.offsets.PageLocations {
		k.offsets.PageLocations[i].Offset += m.DataPageOffset
	}
	m.TotalCompressedSize, m.TotalUncompressedSize = out.n-start, k.raw
	group := k.values.group()
	m.Statistics = k.statistics(limits{group.low, group.high, group.ok && k.bounded}, m.Statistics.NullCount)
	w = written{chunk: format.ColumnChunk{FileOffset: start, MetaData: *m}, offsets: k.offsets}
	if k.bounded {
		columns := k.columns
		w.columns = &columns
	}
	k.values.endGroup()
	k.settled = true
	k.beginGroup()
	return w, nil
}

// writeDictionary writes the dictionary page, if there is one.
func (k *chunk) writeDictionary(out *countingWriter) error {
	values, ok := k.values.(indexed)
	if !ok {
		return nil
	}
	plain, n := values.dictionary()
	if n == 0 {
		return nil
	}
	k.metadata.DictionaryPageOffset = out.n
	k.count(format.DictionaryPage, format.Plain)
	work := k.workspace.page()
	defer k.workspace.release(work)
	compressed, err := work.compress(k.compressor(), plain)
	if err != nil {
		return fmt.Errorf("compress the dictionary of column %v: %w", k.leaf.path, err)
	}
	return k.put(out, work, len(plain), compressed, format.PageHeader{
		Type:                 format.DictionaryPage,
		DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: int32(n), Encoding: format.Plain}),
	})
}

// writeFilter writes the Bloom filter of a chunk that has been written, if there is one, and begins a new one.
func (k *chunk) writeFilter(out *countingWriter, w *written) error {
	if k.filter == nil {
		return nil
	}
	start := out.n
	if err := k.filter.writeTo(out); err != nil {
		return err
	}
	if n := out.n - start; n > 0 {
		w.chunk.MetaData.BloomFilterOffset, w.chunk.MetaData.BloomFilterLength = start, int32(n)
	}
	k.filter.reset()
	return nil
}

func marshal(v any) ([]byte, error) {
	b, err := thrift.Marshal(&thrift.CompactProtocol{}, v)
	if err != nil {
		return nil, fmt.Errorf("encode Parquet metadata: %w", err)
	}
	return b, nil
}
