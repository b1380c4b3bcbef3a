package table

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/sluicedata/sluice/parquetfile"
)

// TestCodecsAreWhatOthersDecode compresses at once, as encoders of one table do.
func TestCodecsAreWhatOthersDecode(t *testing.T) {
	zstd := newZstd()
	for _, name := range []string{"snappy", "zstd", "lz4_raw", "gzip", "uncompressed"} {
		codec, err := codecOf(map[string]string{codecProperty: name}, zstd)
		if err != nil {
			t.Fatal(err)
		}
		var encoders sync.WaitGroup
		for seed := range uint64(3) {
			encoders.Go(func() {
				r := rand.New(rand.NewPCG(seed, 40))
				var buffer []byte
				for _, size := range []int{0, 1, 100, 65_536, 65_537, 1, 131_072, 300_000} {
					plain := bytes.Repeat([]byte{byte(seed)}, size)
					for range size / 20 {
						plain[r.IntN(size)] = byte(r.IntN(256))
					}
					compressed, err := codec.Encode(buffer, plain)
					if err != nil {
						t.Error(err)
						return
					}
					buffer = compressed
					back, err := parquetfile.Decompress(make([]byte, 0, size), compressed, codec.CompressionCodec(), size)
					if err != nil || !bytes.Equal(back, plain) {
						t.Errorf("%s: %d bytes come back as %d: %v", name, size, len(back), err)
					}
				}
			})
		}
		encoders.Wait()
	}
}

// TestFramesOfZstdSayHowLongTheyBecome is for readers that want to know it before they decode.
func TestFramesOfZstdSayHowLongTheyBecome(t *testing.T) {
	for _, size := range []int{1000, 2 << 20} {
		frame, err := newZstd().Encode(nil, make([]byte, size))
		if err != nil {
			t.Fatal(err)
		}
		var header zstd.Header
		if err := header.Decode(frame); err != nil || !header.HasFCS || header.FrameContentSize != uint64(size) {
			t.Errorf("a frame of %d bytes says %d, %v: %v", size, header.FrameContentSize, header.HasFCS, err)
		}
	}
}

// BenchmarkCodec compresses pages of the benchmark record, and decompresses them.
func BenchmarkCodec(b *testing.B) {
	s, record := eventRecord(b, 20_000)
	plain := writtenFile(b, s, map[string]string{codecProperty: "uncompressed"}, record)
	zstd := newZstd()
	for _, name := range []string{"snappy", "zstd", "lz4_raw", "gzip"} {
		codec, err := codecOf(map[string]string{codecProperty: name}, zstd)
		if err != nil {
			b.Fatal(err)
		}
		var compressed, back []byte
		b.Run(name+"/encode", func(b *testing.B) {
			b.SetBytes(int64(len(plain)))
			for b.Loop() {
				if compressed, err = codec.Encode(compressed, plain); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(100*float64(len(compressed))/float64(len(plain)), "%")
		})
		b.Run(name+"/decode", func(b *testing.B) {
			b.SetBytes(int64(len(plain)))
			for b.Loop() {
				if back, err = parquetfile.Decompress(back, compressed, codec.CompressionCodec(), len(plain)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
