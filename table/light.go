package table

import (
	"github.com/parquet-go/parquet-go/format"
)

// Some pages are hardly any shorter for all that a codec does: those of random texts, where Snappy finds no more than their lengths.
// A codec's light form makes less of them in much less time, for whoever reads them as well. Which of the two a column chunk
// gets is what comes of both on its first page, and on one of some pages after. So it is in the first row group of a file, and as it was then
// in the others: parquet-go takes the codec of all of a column's chunks from the first.
const (
	weighedPages = 8        // from one page that is compressed in both ways to the next
	weighedBytes = 32 << 10 // shorter pages are not worth it
)

// hardlyLarger says whether a page of the light form is larger than the codec's by a tenth at most.
func hardlyLarger(light, full int) bool { return 10*light <= 11*full }

// compressor is that of the chunk's pages and dictionary: a chunk of Parquet's has one codec.
func (k *chunk) compressor() compressor {
	if k.light {
		return k.codec.light
	}
	return k.codec.compressor
}

// compress compresses the body of the page that comes next.
func (k *chunk) compress(work *pageWork, body []byte, encoding format.Encoding) ([]byte, error) {
	pages := len(k.offsets.PageLocations)
	direct := encoding != format.RLEDictionary // numbers of a dictionary cost little, and the dictionary itself is to be compressed
	weighed := pages == 0 && direct && len(body) >= weighedBytes && k.codec.light != nil ||
		k.light && (pages%weighedPages == 0 || !direct)
	if !weighed || k.settled {
		return work.compress(k.compressor(), body)
	}
	full, err := work.compress(k.codec.compressor, body)
	if err != nil {
		return nil, err
	}
	if work.light, err = k.codec.light.Encode(work.light, body); err != nil {
		return nil, err
	}
	if direct && hardlyLarger(len(work.light), len(full)) {
		k.light = true
		return work.light, nil
	}
	return full, k.leaveLight()
}

// alike says whether the light form's pages are of the same codec as the others.
func (c codec) alike() bool { return c.light == nil || compresses(c.light, c.CompressionCodec()) }

// leaveLight has the codec compress the pages from now on, and those before as well where they are stored as they are.
func (k *chunk) leaveLight() error {
	if !k.light {
		return nil
	}
	k.light = false
	if k.codec.alike() {
		return nil
	}
	work := k.workspace.page()
	defer k.workspace.release(work)
	light := k.pages
	defer light.reset()
	k.pages, k.raw = blocks{workspace: k.workspace}, 0
	for i := range k.offsets.PageLocations {
		at := &k.offsets.PageLocations[i]
		work.light = light.appendTo(work.light[:0], at.Offset, int(at.CompressedPageSize))
		p, err := readPage(work.light)
		if err != nil {
			return err
		}
		at.Offset = int64(k.pages.len())
		if err := k.putRaw(work, p.header, p.body); err != nil {
			return err
		}
		at.CompressedPageSize = int32(int64(k.pages.len()) - at.Offset)
	}
	return nil
}

// putRaw compresses and appends a page.
func (k *chunk) putRaw(work *pageWork, header format.PageHeader, body []byte) error {
	compressed, err := work.compress(k.compressor(), body)
	if err != nil {
		return err
	}
	return k.put(&k.pages, work, len(body), compressed, header)
}

// keeps says whether pages of a codec may be copied into the chunk.
func (k *chunk) keeps(codec format.CompressionCodec) bool {
	return compresses(k.codec, codec) || compresses(k.codec.light, codec)
}

// turnTo makes the chunk one for a page of a codec that it keeps, which comes next, as far as it can. What has been weighed for another file
// is not weighed again: the chunk's codec becomes that of the first page, and the table's own once a page is of that.
func (k *chunk) turnTo(codec format.CompressionCodec) error {
	own := compresses(k.codec, codec)
	switch {
	case k.settled:
	case len(k.offsets.PageLocations) == 0:
		k.light = !own
	case own && !k.codec.alike():
		return k.leaveLight()
	}
	return nil
}

// copyBody appends a page of another file after turnTo.
func (k *chunk) copyBody(c *sourceChunk, p *sourcePage) error {
	if !compresses(k.compressor(), c.codec) {
		body, err := c.decompress(p)
		if err != nil {
			return err
		}
		work := k.workspace.page()
		defer k.workspace.release(work)
		return k.putRaw(work, p.header, body)
	}
	k.raw += int64(len(p.whole)-len(p.body)) + int64(p.header.UncompressedPageSize)
	_, err := k.pages.Write(p.whole)
	return err
}
