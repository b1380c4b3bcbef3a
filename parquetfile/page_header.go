package parquetfile

import (
	"hash/crc32"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// ReadPageHeader reads the header that some bytes begin with, as far as data pages and dictionaries go, and says how many it takes.
// Its limits are in these bytes.
func ReadPageHeader(b []byte) (h format.PageHeader, n int, err error) {
	r := &compactReader{rest: b}
	h = format.PageHeader{Type: -1, UncompressedPageSize: -1, CompressedPageSize: -1}
	r.structure(compactStruct, func(id int, t byte) {
		switch id {
		case 1: // type
			h.Type = format.PageType(r.integer(t))
		case 2: // uncompressed_page_size
			h.UncompressedPageSize = r.integer(t)
		case 3: // compressed_page_size
			h.CompressedPageSize = r.integer(t)
		case 4: // crc
			h.CRC = r.integer(t)
		case 5: // data_page_header
			h.DataPageHeader = thrift.New(r.dataPage(t))
		case 7: // dictionary_page_header
			h.DictionaryPageHeader = thrift.New(r.dictionaryPage(t))
		case 8: // data_page_header_v2
			h.DataPageHeaderV2 = thrift.New(r.dataPageV2(t))
		default:
			r.skip(t)
		}
	})
	if r.bad || h.Type < 0 || h.UncompressedPageSize < 0 || h.CompressedPageSize < 0 {
		return h, 0, ErrDamaged
	}
	return h, len(b) - len(r.rest), nil
}

// Checksum is what the header of a page says of its body, compressed ("Checksumming"); 0: nothing.
func Checksum(body []byte) int32 { return int32(crc32.ChecksumIEEE(body)) }

// CheckBody refuses a body with another checksum than its header's.
func CheckBody(h *format.PageHeader, body []byte) error {
	if h.CRC != 0 && h.CRC != Checksum(body) {
		return ErrDamaged
	}
	return nil
}

// dataPage reads a DataPageHeader.
func (r *compactReader) dataPage(t byte) format.DataPageHeader {
	h := format.DataPageHeader{NumValues: -1, Encoding: -1, DefinitionLevelEncoding: -1, RepetitionLevelEncoding: -1}
	r.structure(t, func(id int, t byte) {
		switch id {
		case 1: // num_values
			h.NumValues = r.integer(t)
		case 2: // encoding
			h.Encoding = format.Encoding(r.integer(t))
		case 3: // definition_level_encoding
			h.DefinitionLevelEncoding = format.Encoding(r.integer(t))
		case 4: // repetition_level_encoding
			h.RepetitionLevelEncoding = format.Encoding(r.integer(t))
		case 5: // statistics
			h.Statistics = r.statistics(t)
		default:
			r.skip(t)
		}
	})
	if h.NumValues < 0 || h.Encoding < 0 || h.DefinitionLevelEncoding < 0 || h.RepetitionLevelEncoding < 0 {
		r.fail()
	}
	return h
}

// dataPageV2 reads a DataPageHeaderV2, without its statistics.
func (r *compactReader) dataPageV2(t byte) format.DataPageHeaderV2 {
	h := format.DataPageHeaderV2{NumValues: -1, NumNulls: -1, NumRows: -1, Encoding: -1, DefinitionLevelsByteLength: -1, RepetitionLevelsByteLength: -1}
	r.structure(t, func(id int, t byte) {
		switch id {
		case 1: // num_values
			h.NumValues = r.integer(t)
		case 2: // num_nulls
			h.NumNulls = r.integer(t)
		case 3: // num_rows
			h.NumRows = r.integer(t)
		case 4: // encoding
			h.Encoding = format.Encoding(r.integer(t))
		case 5: // definition_levels_byte_length
			h.DefinitionLevelsByteLength = r.integer(t)
		case 6: // repetition_levels_byte_length
			h.RepetitionLevelsByteLength = r.integer(t)
		case 7: // is_compressed
			h.IsCompressed = thrift.New(r.truth(t))
		default:
			r.skip(t)
		}
	})
	if h.NumValues < 0 || h.NumNulls < 0 || h.NumRows < 0 || h.Encoding < 0 || h.DefinitionLevelsByteLength < 0 || h.RepetitionLevelsByteLength < 0 {
		r.fail()
	}
	return h
}

// statistics reads the part of Statistics that does not depend on how a reader compares.
func (r *compactReader) statistics(t byte) (s format.Statistics) {
	r.structure(t, func(id int, t byte) {
		switch id {
		case 3: // null_count
			s.NullCount = r.long(t)
		case 5: // max_value
			s.MaxValue = r.binary(t)
		case 6: // min_value
			s.MinValue = r.binary(t)
		default:
			r.skip(t)
		}
	})
	return s
}

// dictionaryPage reads a DictionaryPageHeader.
func (r *compactReader) dictionaryPage(t byte) format.DictionaryPageHeader {
	h := format.DictionaryPageHeader{NumValues: -1, Encoding: -1}
	r.structure(t, func(id int, t byte) {
		switch id {
		case 1: // num_values
			h.NumValues = r.integer(t)
		case 2: // encoding
			h.Encoding = format.Encoding(r.integer(t))
		default:
			r.skip(t)
		}
	})
	if h.NumValues < 0 || h.Encoding < 0 {
		r.fail()
	}
	return h
}
