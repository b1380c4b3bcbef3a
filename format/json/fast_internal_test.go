package json

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"

	"github.com/sluicedata/sluice/schema"
)

// FuzzNumber holds what is read of a number in words against what is read of it digit by digit, for columns of every kind.
func FuzzNumber(f *testing.F) {
	for _, seed := range []string{
		"0", "-0", "7", "12345678", "-123456789012345678", "1234567890123456789", "0.5", "-0.0", "19.90", "1.000000000000000001", "00", "-", "1.", ".5",
		"1e3", "9007199254740993", "16777217", "0.1234567", "127", "128", "-128", "32768", "99999999.99", "100000000.00", "123456789.12345678", "1.2.3", "12a",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551616", "012345678", "123456789012345678901234567890",
	} {
		f.Add([]byte(seed))
	}
	types := []string{"tinyint", "smallint", "int", "bigint", "float", "double", "decimal(4,2)", "decimal(10,2)", "decimal(18,18)", "decimal(38,9)"}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) == 0 || text[0] == 'n' || text[0] == '"' || bytes.ContainsAny(text, " \t\r\n") {
			return
		}
		for _, ddl := range types {
			typ, err := schema.ParseDDL(ddl)
			if err != nil {
				t.Fatal(err)
			}
			var d Decoder
			if d.load(text) < 0 {
				return
			}
			fast, slow := newColumn(typ, true), newColumn(typ, true)
			taker, err := newTaker(fast, "")
			if err != nil {
				t.Fatal(err)
			}
			taken := taker.take(&d, &taker, 0) == len(text)
			want := isNumber(text) && appendNumber(slow, text) == ""
			if taken != want || want && !bytes.Equal(fast.data, slow.data) {
				t.Errorf("%q as %s: taken is %t, want %t; %x, want %x", text, ddl, taken, want, fast.data, slow.data)
			}
		}
	})
}

// FuzzInstant holds what is read of a timestamp in words, behind another one, against what is read of it by parts.
func FuzzInstant(f *testing.F) {
	for _, seed := range []string{
		"2024-05-01T10:40:00.125Z", "2024-05-01T10:40:00Z", "2024-05-01T10:40:00", "0001-01-01T00:00:00.000001Z", "9999-12-31T23:59:59.999999", "2024-02-30T00:00:00Z",
		"2024-05-01T24:00:00Z", "2024-05-01T10:60:00Z", "2024-05-01T10:40:60Z", "2024-05-01T10:40:00.1234567Z", "2024-05-01T10:40:00.Z", "2024-05-01T1a:40:00Z",
		"2024-05-01T10:40:59.999Z", "2024-05-01T10:40:60.000Z", "2024-05-01T10:40:0/.000Z", "2024-05-01T10:40:00.0:0Z", "2024-05-01T10:40:00,000Z", "2024-05-01T10:40.00.000Z", "2024-05-01T10:40:00.000z",
		"2024-05-01T10:40:00.000\x80", "1970-01-01T00:00:07.000Z", "1969-12-31T23:59:59.999Z",
		"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x0010:40:00Z", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x0010:40:00Z", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00:00.000Z",
	} {
		f.Add("", seed)
		f.Add(seed, seed)
		f.Add("2024-05-01T10:40:31.5Z", seed)
	}
	f.Fuzz(func(t *testing.T, before, text string) {
		fast, slow := newCalendar(), newCalendar()
		for _, text := range []string{before, text} {
			at, n := fast.usual(append([]byte(text+`"`), make([]byte, padding)...), 0)
			if n == 0 {
				continue
			}
			text = text[:min(n-1, len(text))]
			want, reason := slow.instant([]byte(text))
			if reason != "" || at != want || n != len(text)+1 {
				t.Errorf("%q: %v in %d bytes, want %v %s", text, at, n, want, reason)
			}
		}
	})
}

// TestSpecialBytesAreFoundAmongAnyOthers puts every byte in every place of a word.
func TestSpecialBytesAreFoundAmongAnyOthers(t *testing.T) {
	for c := range 256 {
		for _, other := range []byte{'a', ' ', '!', '#', 0x7F, 0x80, 0xFF} {
			for at := range 8 {
				b := bytes.Repeat([]byte{other}, 8)
				b[at] = byte(c)
				want := c < ' ' || c == '"' || c == '\\'
				m := special(binary.LittleEndian.Uint64(b))
				if want != (m != 0) || want && m&-m != 0x80<<(8*at) {
					t.Errorf("byte %#x at %d among %#x: %#x", c, at, other, m)
				}
			}
		}
	}
}

// FuzzCopyPlain holds the copying of strings, by the processor's instructions and by words, against a loop over their bytes, whatever room
// there is for them.
func FuzzCopyPlain(f *testing.F) {
	for _, seed := range []string{"", "short", "sixteen bytes 16", "seventeen bytes 17", "a\\n", "\x00", "é", "before é behind it and further", "tab\t", "0123456789012345678901234567890123456789"} {
		f.Add(seed, uint8(64))
		f.Add(seed+`"`, uint8(20))
	}
	f.Fuzz(func(t *testing.T, text string, room uint8) {
		var s scanner
		if s.load([]byte(`"`+text)) < 0 {
			return
		}
		want := bytes.IndexFunc(s.buf[1:], func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r > '\x7F' })
		for _, copies := range []func(to, from unsafe.Pointer, room int) int{copyPlain, copyPlainWords} {
			dst := bytes.Repeat([]byte{'x'}, int(room)+1)
			n := copies(place(dst, 0), place(s.buf, 1), int(room))
			if n != want && (n > want || n < int(room)-copyStep+1) || !bytes.Equal(dst[:n], s.buf[1:1+n]) || dst[room] != 'x' {
				t.Errorf("%q with room for %d: %d bytes %q, want %d", text, room, n, dst, want)
			}
		}
	})
}

// FuzzDictionary holds the numbers of texts against a map.
func FuzzDictionary(f *testing.F) {
	f.Add("a,b,a,,\x00,a\x00,0123456789abcdef,0123456789abcdefg,0123456789abcdefh,0123456789abcdef")
	f.Add("aaaaaaaaaaaaaaaaX,aaaaaaaaaaaaaaaaY,aaaaaaaaaaaaaaaaXaaaaaaaa,aaaaaaaaaaaaaaaaYaaaaaaaa")
	f.Fuzz(func(t *testing.T, texts string) {
		w, numbers := newDictionary(maxTexts), map[string]int32{}
		for text := range strings.SplitSeq(texts, ",") {
			want, known := numbers[text]
			if !known {
				want = int32(len(numbers))
			}
			if !known && (len(numbers) == maxTexts || len(text) > maxTextBytes) {
				want = -1
			}
			buf := append([]byte("in front,"+text), make([]byte, padding)...)
			if got := w.number(buf, 9, len(text)); got != want {
				t.Fatalf("%q has the number %d, want %d", text, got, want)
			}
			if want >= 0 {
				numbers[text] = want
			}
		}
	})
}

// FuzzCoded holds what is read of a string by a column that knows texts against what is read of any string.
func FuzzCoded(f *testing.F) {
	for _, seed := range []string{`"`, `a"`, `a\b"`, `a\"`, "a\x00\"", "\xc3\xa9\"", "\xc3\"", `seven77"`, `eight888"`, `fifteen 5555555"`, `sixteen 66666666"`, `a longer one than that"`, `a longer one than that, and more"`, `a longer one than that\n"`, `a longer one than tha"`, `\u0061"`} {
		f.Add("a,,a\\b,a\\,a\\\",a\x00,é,\xc3,seven77,eight888,fifteen 5555555,sixteen 66666666,a longer one than that", seed+`,"next":"a"`)
	}
	f.Fuzz(func(t *testing.T, known, text string) {
		var d Decoder
		col := newColumn(schema.Of(schema.String), true)
		taker, err := newTaker(col, "")
		if err != nil {
			t.Fatal(err)
		}
		for text := range strings.SplitSeq(known, ",") {
			col.dict.number(append([]byte(text), make([]byte, padding)...), 0, len(text))
		}
		if d.load([]byte(`"`+text)) < 0 {
			return
		}
		want, end := d.str(0)
		want = bytes.Clone(want)
		d.high = 0
		got := taker.take(&d, &taker, 0)
		if got != end {
			t.Fatalf("%q ends at %d, want %d", text, got, end)
		}
		if end < 0 {
			return
		}
		ascii := bytes.IndexFunc(d.buf[:end], func(r rune) bool { return r >= utf8.RuneSelf }) < 0
		if !ascii && d.high&highBits == 0 {
			t.Fatalf("%q is taken for ASCII", text)
		}
		if col.dict != nil {
			col.spell()
		}
		if got := col.at(0); !bytes.Equal(got, want) {
			t.Fatalf("%q is read as %q, want %q", text, got, want)
		}
	})
}
