package json

import (
	"encoding/binary"
	"math"
)

const (
	microsPerSecond = 1_000_000
	secondsPerDay   = 86_400
	microsPerDay    = secondsPerDay * microsPerSecond
)

// The first and the last microsecond of the years 0001 to 9999, and their days.
const (
	minDay, maxDay       = -719162, 2932896
	minMicros, maxMicros = minDay * microsPerDay, (maxDay+1)*microsPerDay - 1
)

// noDay is what day returns for a text that names none.
const noDay = math.MinInt64

// instant is a timestamp's text, read.
type instant struct {
	micros int64 // since the epoch; UTC when zoned
	zoned  bool
}

// calendar reads dates and timestamps. It remembers the last day and the last minute, since neighbours mostly share them.
type calendar struct {
	head, tail uint64 // the day's text as two words: yyyy-MM-, and dd with a T behind it
	days       int64

	minuteHead, minuteTail uint64 // the minute's text: yyyy-MM-, ddTHH:mm
	minute                 int64  // in microseconds since the epoch
}

// newCalendar returns a calendar that remembers the epoch: words of zeros would stand for texts of zero bytes.
func newCalendar() calendar {
	epoch := []byte("1970-01-01T00:00")
	c := calendar{minuteHead: word(epoch, 0), minuteTail: word(epoch, 8)}
	c.day(epoch[:10])
	return c
}

// dayTail is what a calendar's tail has of a word: two digits and the T.
const dayTail = 1<<24 - 1

// day returns the days from the epoch to a date written as yyyy-MM-dd, or noDay.
func (c *calendar) day(text []byte) int64 {
	if len(text) != 10 {
		return noDay
	}
	head, tail := binary.LittleEndian.Uint64(text), uint64(binary.LittleEndian.Uint16(text[8:]))|'T'<<16
	if head == c.head && tail == c.tail {
		return c.days
	}
	y := pair(text, 0)*100 + pair(text, 2)
	m, d := pair(text, 5), pair(text, 8)
	if y < 1 || text[4] != '-' || text[7] != '-' || m < 1 || m > 12 || d < 1 || d > monthDays(y, m) {
		return noDay
	}
	c.head, c.tail, c.days = head, tail, daysSinceEpoch(y, m, d)
	return c.days
}

// pair returns the value of two digits, or a number far below zero.
func pair(text []byte, at int) int64 {
	if !isDigit(text[at]) || !isDigit(text[at+1]) {
		return -1_000_000
	}
	return int64(text[at]-'0')*10 + int64(text[at+1]-'0')
}

func monthDays(y, m int64) int64 {
	switch m {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if y%4 == 0 && (y%100 != 0 || y%400 == 0) {
			return 29
		}
		return 28
	default:
		return 31
	}
}

// daysSinceEpoch counts in the proleptic Gregorian calendar, with years that begin in March so that the leap day is the
// last one.
func daysSinceEpoch(y, m, d int64) int64 {
	if m <= 2 {
		y--
		m += 12
	}
	era := y / 400
	yearOfEra := y - era*400
	dayOfYear := (153*(m-3)+2)/5 + d - 1
	return era*146097 + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear - 719468
}

// instant reads yyyy-MM-ddTHH:mm:ss with up to nine digits of a fraction and perhaps a zone, Z or ±HH:mm (RFC 3339, 5.6;
// T may be a space). It returns a reason when the text is none, or when microseconds don't hold it.
func (c *calendar) instant(text []byte) (instant, string) {
	const notRFC = "it is not written as in RFC 3339"
	if len(text) < 19 || text[10]|0x20 != 't' && text[10] != ' ' {
		return instant{}, notRFC
	}
	days := c.day(text[:10])
	h, m, s := pair(text, 11), pair(text, 14), pair(text, 17)
	if days == noDay || h < 0 || m < 0 || s < 0 || text[13] != ':' || text[16] != ':' {
		return instant{}, notRFC
	}
	if h > 23 || m > 59 || s > 59 {
		return instant{}, "the time is past 23:59:59"
	}
	micros, rest, reason := fractionMicros(text[19:])
	if reason != "" {
		return instant{}, reason
	}
	offset, ok := zoneSeconds(rest)
	if !ok {
		return instant{}, notRFC
	}
	at := instant{micros: ((days*24+h)*60+m)*60*microsPerSecond + (s-offset)*microsPerSecond + micros, zoned: len(rest) > 0}
	if at.micros < minMicros || at.micros > maxMicros {
		return instant{}, "it is outside of the years 0001 to 9999"
	}
	return at, ""
}

// usual reads the text of a string at p of a scanner's buffer when it is written as nearly all are: yyyy-MM-ddTHH:mm:ss, up to six
// digits of a fraction, Z or nothing. It returns how many bytes it takes with the closing quote, 0 for any other text.
func (c *calendar) usual(buf []byte, p int) (at instant, n int) {
	head, tail := word(buf, p), word(buf, p+8)
	if head == c.minuteHead && tail == c.minuteTail && byteAt(buf, p+24) == '"' {
		if of := milliseconds(word(buf, p+16)); of >= 0 {
			return instant{micros: c.minute + 1000*of, zoned: true}, len(`yyyy-MM-ddTHH:mm:ss.SSSZ"`)
		}
	}
	if head != c.head || tail&dayTail != c.tail {
		if byteAt(buf, p+10) != 'T' || c.day(buf[p:p+10]) == noDay {
			return at, 0
		}
	}
	seconds := clock(word(buf, p+11))
	if seconds < 0 {
		return at, 0
	}
	at.micros = (c.days*secondsPerDay + seconds) * microsPerSecond
	c.minuteHead, c.minuteTail, c.minute = head, tail, at.micros-seconds%60*microsPerSecond
	n = len("yyyy-MM-ddTHH:mm:ss")
	if byteAt(buf, p+n) == '.' {
		fraction, digits := leadingDigits(word(buf, p+n+1))
		if uint(digits-1) >= 6 {
			return at, 0
		}
		at.micros += int64(fraction * powers[6-digits])
		n += 1 + digits
	}
	if at.zoned = byteAt(buf, p+n) == 'Z'; at.zoned {
		n++
	}
	if byteAt(buf, p+n) != '"' {
		return at, 0
	}
	return at, n + 1
}

// milliseconds returns those of the minute of a time written as :ss.SSSZ, or a negative number for another text.
func milliseconds(w uint64) int64 {
	w ^= 0x5A3030302E30303A // ":00.000Z": leaves the digits' values, and zeros for the rest
	if (w+lowBits*(0x80-10)|w)&highBits != 0 || w&0xFF000000FF0000FF != 0 {
		return -1
	}
	s := w>>8&0xFF*10 + w>>16&0xFF
	if s > 59 {
		return -1
	}
	return int64(s*1000 + w>>32&0xFF*100 + w>>40&0xFF*10 + w>>48)
}

// clock returns the seconds of the day of a time written as HH:mm:ss, or a negative number for another text.
func clock(w uint64) int64 {
	w ^= 0x30303A30303A3030 // "00:00:00": leaves the digits' values, and zeros for the colons
	if (w+lowBits*(0x80-10)|w)&highBits != 0 || w&0x0000FF0000FF0000 != 0 {
		return -1
	}
	w = w*10 + w>>8 // two digits each in the bytes 0, 3 and 6
	h, m, s := w&0xFF, w>>24&0xFF, w>>48&0xFF
	if h > 23 || m > 59 || s > 59 {
		return -1
	}
	return int64((h*60+m)*60 + s)
}

// fractionMicros reads the fraction of a second, if there is one, and returns what stands behind it.
func fractionMicros(text []byte) (micros int64, rest []byte, reason string) {
	if len(text) == 0 || text[0] != '.' {
		return 0, text, ""
	}
	end := digitsEnd(text, 1)
	if end == 1 || end > 10 {
		return 0, nil, "its fraction does not have 1 to 9 digits"
	}
	for i := 1; i <= 6; i++ {
		micros *= 10
		if i < end {
			micros += int64(text[i] - '0')
		}
	}
	for i := 7; i < end; i++ {
		if text[i] != '0' {
			return 0, nil, "it has digits behind the microseconds"
		}
	}
	return micros, text[end:], ""
}

// zoneSeconds reads Z, ±HH:mm or nothing.
func zoneSeconds(text []byte) (int64, bool) {
	switch {
	case len(text) == 0:
		return 0, true
	case len(text) == 1:
		return 0, text[0]|0x20 == 'z'
	case len(text) != 6 || text[0] != '+' && text[0] != '-' || text[3] != ':':
		return 0, false
	}
	h, m := pair(text, 1), pair(text, 4)
	if h < 0 || h > 23 || m < 0 || m > 59 {
		return 0, false
	}
	if text[0] == '-' {
		h, m = -h, -m
	}
	return (h*60 + m) * 60, true
}

// floorDay returns the day that an instant falls on.
func floorDay(micros int64) int64 {
	day := micros / microsPerDay
	if micros%microsPerDay < 0 {
		day--
	}
	return day
}
