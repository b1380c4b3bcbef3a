package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"github.com/sluicedata/sluice/parquetfile"
	"github.com/sluicedata/sluice/storage"
)

// engineName begins what our files call their writer.
const engineName = "sluice"

// wholeBytes is how large a file may be that is read in one request.
const wholeBytes = 8 << 20

// sourceFile is a data file that is rewritten. The pages of a column can become those of another file if each of its leaves is there as the layout has it,
// in pages whose encodings are known here. Not safe for concurrent use.
type sourceFile struct {
	place  place
	object io.ReaderAt
	size   int64
	whole  []byte // all of it, if it is small
	footer *parquetfile.Footer
	own    bool // its pages' headers tell limits and nulls as ours do
	joins  bool // the pages of some columns can be taken over; else all of its rows have to be read
	fileColumns
}

// sourceOpener opens data files that are rewritten, one after the other, in the memory of the one before. Not safe for concurrent use.
type sourceOpener struct {
	buffer []byte // small files
	footer parquetfile.Footer
	known  sourceColumns
}

// sourceColumns are where files of a schema have the leaves of a layout.
type sourceColumns struct {
	schema []byte // see parquetfile.Footer
	count  int    // of the files' leaves
	fileColumns
}

// fileColumns are where a file has the columns of a layout.
type fileColumns struct {
	leaves []int     // by leaf of the layout: its index in the file, noPages if its pages cannot be taken over
	byRow  []*column // those whose values have to be read
	absent []*bound  // those that the file lacks: null in all rows
}

const noPages = -1

// open opens a data file. It is of no use any more when another is opened.
func (o *sourceOpener) open(l *layout, at place, object storage.Object) (s *sourceFile, err error) {
	defer parquetfile.Recover(&err)
	s = &sourceFile{place: at, object: object, size: object.Size(), footer: &o.footer}
	if s.size <= wholeBytes {
		o.buffer = slices.Grow(o.buffer[:0], int(s.size))
		s.whole = o.buffer[:s.size]
		if n, err := object.ReadAt(s.whole, 0); n < len(s.whole) { // what the file before left behind it is not this one's
			return nil, err
		}
		s.object = bytes.NewReader(s.whole)
	}
	if known, err := s.footer.Read(s.object, s.size); err != nil || !known {
		return s, err
	}
	if !bytes.Equal(o.known.schema, s.footer.Schema) {
		file, err := s.open()
		if err != nil {
			return nil, err
		}
		o.known = columnsIn(file, l)
		o.known.schema = bytes.Clone(s.footer.Schema)
	}
	if slices.ContainsFunc(s.footer.Groups, func(g parquetfile.Group) bool { return len(g.Chunks) != o.known.count }) {
		return s, nil
	}
	s.fileColumns = o.known.takenOver(l, s.footer.Groups)
	s.own = bytes.HasPrefix(s.footer.CreatedBy, []byte(engineName))
	s.joins = len(s.byRow)+len(s.absent) < len(l.columns)
	return s, nil
}

// open opens the file to read its rows.
func (s *sourceFile) open() (*parquetfile.File, error) { return parquetfile.Open(s.object, s.size) }

// columnsIn finds the columns of a layout in a file, and in all others of its schema.
func columnsIn(file *parquetfile.File, l *layout) sourceColumns {
	in := sourceColumns{count: len(file.Schema().Columns())}
	for i, c := range l.columns {
		of := fileColumn(file.Root(), &l.fields[i])
		leaves, same := l.leavesIn(c, of)
		switch {
		case same:
			for _, leaf := range leaves {
				in.leaves = append(in.leaves, leaf.Index())
			}
			continue
		case of == nil:
			in.absent = append(in.absent, c.absent())
		default:
			in.byRow = append(in.byRow, c)
		}
		in.leaves = appendTimes(in.leaves, noPages, c.endLeaf-c.firstLeaf)
	}
	return in
}

// takenOver leaves those columns to be read of which there is a page that cannot be taken over.
func (f fileColumns) takenOver(l *layout, groups []parquetfile.Group) fileColumns {
	for _, c := range l.columns {
		leaves := f.leaves[c.firstLeaf:c.endLeaf]
		if !slices.ContainsFunc(groups, func(g parquetfile.Group) bool {
			return slices.ContainsFunc(leaves, func(at int) bool { return at != noPages && !takenOver(&g.Chunks[at]) })
		}) {
			continue
		}
		f.leaves, f.byRow = slices.Clone(f.leaves), append(slices.Clip(f.byRow), c)
		for leaf := c.firstLeaf; leaf < c.endLeaf; leaf++ {
			f.leaves[leaf] = noPages
		}
	}
	return f
}

// plainDictionary is RLE_DICTIONARY as older writers call it.
const plainDictionary = format.Encoding(2)

// Kinds of pages, and their encodings, that can be taken over.
const (
	pagesTakenOver     = 1<<format.DataPage | 1<<format.DataPageV2 | 1<<format.DictionaryPage
	encodingsTakenOver = 1<<format.Plain | 1<<plainDictionary | 1<<format.RLEDictionary | 1<<format.DeltaBinaryPacked | 1<<format.DeltaLengthByteArray
)

// takenOver says whether all pages of a chunk can be.
func takenOver(c *parquetfile.Chunk) bool {
	return c.PageTypes != 0 && c.PageTypes&^pagesTakenOver == 0 && c.Encodings&^encodingsTakenOver == 0
}

// rows is how many the file has.
func (s *sourceFile) rows() int64 { return s.footer.Rows }

// groups is the number of its row groups.
func (s *sourceFile) groups() int { return len(s.footer.Groups) }

// groupRows is how many rows a row group has.
func (s *sourceFile) groupRows(group int) int64 { return s.footer.Groups[group].Rows }

// chunk reads the column chunk of a leaf in a row group, whose pages the decoder is for from now on.
func (s *sourceFile) chunk(group, at int, l *leaf, d *pageDecoder) (*sourceChunk, error) {
	start, size, err := s.footer.Range(group, s.leaves[at])
	if err != nil {
		return nil, err
	}
	of := &s.footer.Groups[group].Chunks[s.leaves[at]]
	c := &sourceChunk{leaf: l, own: s.own, values: of.Values, codec: of.Codec, pages: d}
	d.forget()
	if s.whole != nil {
		c.bytes = s.whole[start : start+size]
		return c, nil
	}
	c.bytes = make([]byte, size)
	if n, err := s.object.ReadAt(c.bytes, start); n < len(c.bytes) {
		return nil, err
	}
	return c, nil
}

var errDamaged = parquetfile.ErrDamaged

// sourceChunk is a column chunk of a sourceFile.
type sourceChunk struct {
	leaf   *leaf
	own    bool
	values int64 // absent ones included
	codec  format.CompressionCodec
	bytes  []byte // of its pages, as they are in the file
	pages  *pageDecoder
}

// sourcePage is a data page of a sourceChunk.
type sourcePage struct {
	header format.PageHeader
	data   format.DataPageHeader
	whole  []byte // header and body
	body   []byte // compressed; of a page of version 2 its values

	rep, def []byte // levels of a page of version 2
	plain    bool   // its values are not compressed, whatever the chunk's codec is
}

// levels is how many values the page has, absent ones included.
func (p *sourcePage) levels() int { return int(p.data.NumValues) }

// each hands the chunk's data pages to fn, in order, after the dictionary is known.
func (c *sourceChunk) each(fn func(*sourcePage) error) error {
	rest := c.bytes
	for left := c.values; left > 0; {
		p, err := readPage(rest)
		if err != nil {
			return err
		}
		rest = rest[len(p.whole):]
		switch p.header.Type {
		case format.DictionaryPage:
			dictionary, ok := p.header.DictionaryPageHeader.Get()
			if !ok {
				return errDamaged
			}
			body, err := c.decompress(p)
			if err != nil {
				return err
			}
			if err := c.pages.setDictionary(c.leaf, body, int(dictionary.NumValues)); err != nil {
				return err
			}
		case format.DataPage, format.DataPageV2:
			if left -= int64(p.data.NumValues); p.data.NumValues <= 0 || left < 0 {
				return errDamaged
			}
			if err := fn(p); err != nil {
				return err
			}
		default:
			return fmt.Errorf("a page of type %s: %w", p.header.Type, errDamaged)
		}
	}
	return nil
}

// readPage reads the page that some bytes begin with.
func readPage(b []byte) (*sourcePage, error) {
	header, n, err := parquetfile.ReadPageHeader(b)
	if err != nil {
		return nil, err
	}
	p := &sourcePage{header: header}
	size := int(header.CompressedPageSize)
	if size > len(b)-n {
		return nil, errDamaged
	}
	p.whole, p.body = b[:n+size], b[n:n+size]
	switch p.header.Type {
	case format.DataPage:
		var ok bool
		if p.data, ok = p.header.DataPageHeader.Get(); !ok {
			return nil, errDamaged
		}
	case format.DataPageV2:
		return p, p.cutLevels()
	}
	return p, nil
}

// cutLevels takes the levels off a page of version 2, which lie in front of the values and are not compressed ("Data Pages").
func (p *sourcePage) cutLevels() error {
	h, ok := p.header.DataPageHeaderV2.Get()
	rep, def := int(h.RepetitionLevelsByteLength), int(h.DefinitionLevelsByteLength)
	if !ok || rep+def > len(p.body) || rep+def > int(p.header.UncompressedPageSize) {
		return errDamaged
	}
	p.data = format.DataPageHeader{NumValues: h.NumValues, Encoding: h.Encoding, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE}
	p.rep, p.def, p.body = p.body[:rep], p.body[rep:rep+def], p.body[rep+def:]
	p.header.UncompressedPageSize -= int32(rep + def)
	compressed, said := h.IsCompressed.Get()
	p.plain = said && !compressed || len(p.body) == 0
	return nil
}

// withLevels is a page of version 2 as one of version 1 is, when its values have been decompressed: levels are behind their length.
func (p *sourcePage) withLevels(l *leaf, values []byte) (body []byte) {
	if l.maxRep > 0 {
		body = withLength(body, func(b []byte) []byte { return append(b, p.rep...) })
	}
	if l.maxDef > 0 {
		body = withLength(body, func(b []byte) []byte { return append(b, p.def...) })
	}
	return append(body, values...)
}

// check holds the page against its checksum. One that is copied takes it along, so that whoever reads it notices.
func (p *sourcePage) check() error {
	return parquetfile.CheckBody(&p.header, p.whole[len(p.whole)-int(p.header.CompressedPageSize):])
}

func (c *sourceChunk) decompress(p *sourcePage) ([]byte, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	codec := c.codec
	if p.plain {
		codec = format.Uncompressed
	}
	body, err := parquetfile.Decompress(c.pages.body, p.body, codec, int(p.header.UncompressedPageSize))
	if err != nil {
		return nil, err
	}
	c.pages.body = body
	return body, nil
}

// decode returns the page's values and their entries in it.
func (c *sourceChunk) decode(p *sourcePage) (*decodedPage, error) {
	body, err := c.decompress(p)
	if err != nil {
		return nil, err
	}
	if p.data.DefinitionLevelEncoding != format.RLE && c.leaf.maxDef > 0 || p.data.RepetitionLevelEncoding != format.RLE && c.leaf.maxRep > 0 {
		return nil, errors.New("its levels are BIT_PACKED, which no writer has done for years; have the engine that wrote the file rewrite it")
	}
	if p.header.Type == format.DataPageV2 {
		body = p.withLevels(c.leaf, body)
	}
	return c.pages.decode(c.leaf, body, p.levels(), p.data.Encoding)
}
