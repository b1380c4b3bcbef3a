package s3

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash"
	"hash/crc32"
	"hash/crc64"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

func newCRC32C() hash.Hash { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) }

// nvme is the polynomial of CRC64NVME, in the order of bits that package crc64 has.
const nvme = 0x9a6c9329ac4bc9b5

// encodedSum is a checksum as S3's headers have it.
func encodedSum(h hash.Hash) *string {
	text := base64.StdEncoding.EncodeToString(h.Sum(nil))
	return &text
}

func crc32cOf(b []byte) *string {
	sum := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
	text := base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, sum))
	return &text
}

// wholeSum returns a checksum that the store keeps of the object as a whole, and how to compute it; nil when it keeps
// none. Those of uploads may be checksums of checksums, which say nothing about the bytes alone.
func wholeSum(head *s3.HeadObjectOutput) (want string, h hash.Hash) {
	if head.ChecksumType == types.ChecksumTypeComposite {
		return "", nil
	}
	switch {
	case head.ChecksumCRC32C != nil:
		return *head.ChecksumCRC32C, newCRC32C()
	case head.ChecksumCRC64NVME != nil:
		return *head.ChecksumCRC64NVME, crc64.New(crc64.MakeTable(nvme))
	case head.ChecksumCRC32 != nil:
		return *head.ChecksumCRC32, crc32.NewIEEE()
	case head.ChecksumSHA256 != nil:
		return *head.ChecksumSHA256, sha256.New()
	default:
		return "", nil
	}
}
