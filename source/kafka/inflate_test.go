package kafka

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/pierrec/lz4/v4"
	"github.com/twmb/franz-go/pkg/kgo"
)

// bodies are texts to compress: none, a short one, one that repeats itself far back, and one that does not compress.
func bodies() [][]byte {
	noise := make([]byte, 100_000)
	for i := range noise {
		noise[i] = byte(rand.N(256))
	}
	return [][]byte{{}, []byte("a"), []byte(strings.Repeat("far back and again, ", 20_000)), noise}
}

// xerial frames Snappy as Java's library does.
func xerial(body []byte, size int) []byte {
	out := append([]byte{}, xerialMark...)
	out = append(out, 0, 0, 0, 1, 0, 0, 0, 1)
	for len(body) > 0 {
		n := min(size, len(body))
		block := snappy.Encode(nil, body[:n])
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(block))), block...)
		body = body[n:]
	}
	return out
}

func lz4Frame(t *testing.T, body []byte, options ...lz4.Option) []byte {
	t.Helper()
	var out bytes.Buffer
	w := lz4.NewWriter(&out)
	err := w.Apply(options...)
	if err == nil {
		_, err = w.Write(body)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestWhateverACodecWritesIsInflated(t *testing.T) {
	inflate := newInflater(maxInflated)
	for i, body := range bodies() {
		frames := map[string][]byte{
			"lz4, 64 KB":    lz4Frame(t, body, lz4.BlockSizeOption(lz4.Block64Kb)),
			"lz4, all sums": lz4Frame(t, body, lz4.BlockChecksumOption(true), lz4.ChecksumOption(true), lz4.SizeOption(uint64(len(body)))),
			"lz4, linked":   linkedFrame(t, body),
		}
		for name, codec := range codecs {
			frames[name] = deflate(codec, body)
		}
		delete(frames, "none")
		if len(body) > 0 {
			frames["snappy, xerial"] = xerial(body, 32<<10)
		}
		for name, frame := range frames {
			codec := codecs[strings.SplitN(name, ",", 2)[0]]
			before := []byte("what is there")
			got, err := inflate.append(before, codec, frame)
			if err != nil || !bytes.Equal(got, append(before, body...)) {
				t.Errorf("%s of body %d: %d bytes, %v", name, i, len(got), err)
			}
			if name == "lz4, linked" { // which Java's client refuses to read, and never writes
				continue
			}
			clients, err := kgo.DefaultDecompressor().Decompress(frame, kgo.CompressionCodecType(codec))
			if err != nil || !bytes.Equal(clients, body) {
				t.Errorf("%s of body %d: the client finds %d bytes, %v", name, i, len(clients), err)
			}
		}
	}
}

// linkedFrame is an LZ4 frame of two blocks, of which the second refers to the first, and a stored one.
func linkedFrame(t *testing.T, body []byte) []byte {
	t.Helper()
	frame := binary.LittleEndian.AppendUint32(nil, lz4Mark)
	frame = append(frame, lz4Version, 4<<4, 0)
	block := func(length uint32, b []byte) {
		frame = append(binary.LittleEndian.AppendUint32(frame, length), b...)
	}
	for len(body) > 64<<10 {
		block(64<<10|lz4Stored, body[:64<<10])
		body = body[64<<10:]
		if len(body) > 36 && bytes.HasPrefix(body[20:], body[:16]) { // it repeats itself every 20 bytes
			// Nothing as it is, then 4+12 bytes from 20 back; then five as they are.
			block(9, append([]byte{0x0c, 20, 0, 0x50}, body[16:21]...))
			body = body[21:]
		}
	}
	if len(body) > 0 {
		block(uint32(len(body))|lz4Stored, body)
	}
	return binary.LittleEndian.AppendUint32(frame, 0)
}

func TestInflatingIsBounded(t *testing.T) {
	body := make([]byte, 1<<20)
	for name, codec := range codecs {
		if codec == 0 {
			continue
		}
		frame := deflate(codec, body)
		if got, err := newInflater(len(body)).append(nil, codec, frame); err != nil || len(got) != len(body) {
			t.Errorf("%s within the limit: %d bytes, %v", name, len(got), err)
		}
		if got, err := newInflater(len(body)-1).append(nil, codec, frame); err == nil {
			t.Errorf("%s beyond the limit: %d bytes and no error", name, len(got))
		}
	}
}

func FuzzInflate(f *testing.F) {
	for _, codec := range codecs {
		f.Add(codec, deflate(codec, []byte("a text, a text, a text")))
	}
	f.Add(uint16(codecSnappy), xerial([]byte("a text, a text, a text"), 7))
	const limit = 1 << 20
	inflate := newInflater(limit)
	f.Fuzz(func(t *testing.T, codec uint16, raw []byte) {
		codec = codec%4 + 1
		got, err := inflate.append(nil, codec, raw)
		if err != nil {
			return
		}
		if len(got) > limit {
			t.Errorf("%d bytes", len(got))
		}
		clients, err := kgo.DefaultDecompressor().Decompress(raw, kgo.CompressionCodecType(codec))
		if err == nil && !bytes.Equal(got, clients) {
			t.Errorf("%d bytes, the client's %d", len(got), len(clients))
		}
		again, err := inflate.append([]byte("x"), codec, deflate(codec, raw))
		if err != nil || !bytes.Equal(again[1:], raw) {
			t.Errorf("%d bytes come back as %d: %v", len(raw), len(again)-1, err)
		}
	})
}
