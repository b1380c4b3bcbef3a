package schema

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

var (
	errNoDay       = errors.New("no such day")
	errNoYear      = errors.New("no year in front")
	errNoTimestamp = errors.New("it is neither yyyy-MM-dd HH:mm:ss.SSSSSS nor ISO 8601")
)

// ParseDate reads yyyy-MM-dd, with a time of day behind it that does not count, as days since the epoch.
func ParseDate(s string) (int64, error) {
	if i := strings.IndexAny(s, " T"); i > 0 {
		s = s[:i]
	}
	year, rest, err := cutYear(s)
	if err != nil {
		return 0, err
	}
	t, err := time.Parse("-01-02", rest)
	if err != nil {
		return 0, err
	}
	full := time.Date(year, t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	if full.Day() != t.Day() { // the 29th of February of another year
		return 0, errNoDay
	}
	return full.Unix() / 86400, nil
}

// cutYear takes a year of any length and sign from the front of a date.
func cutYear(s string) (year int, rest string, err error) {
	sign := 1
	switch {
	case strings.HasPrefix(s, "-"):
		sign, s = -1, s[1:]
	case strings.HasPrefix(s, "+"):
		s = s[1:]
	}
	i := strings.IndexByte(s, '-')
	if i < 4 || i > 6 {
		return 0, "", errNoYear
	}
	year, err = strconv.Atoi(s[:i])
	return sign * year, s[i:], err
}

// ParseTimestamp reads a timestamp as microseconds since the epoch. Without a zone in it, the text is in UTC.
func ParseTimestamp(s string) (int64, error) {
	year, rest, err := cutYear(s)
	if err != nil {
		return 0, err
	}
	for _, layout := range []string{
		"-01-02 15:04:05.999999999", "-01-02T15:04:05.999999999Z07:00", "-01-02T15:04:05.999999999",
		"-01-02 15:04:05.999999999Z07:00", "-01-02",
	} {
		t, err := time.Parse(layout, rest)
		if err != nil {
			continue
		}
		_, offset := t.Zone()
		full := time.Date(year, t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
		if full.Day() != t.Day() {
			return 0, errNoDay
		}
		return full.UnixMicro() - int64(offset)*1_000_000, nil
	}
	return 0, errNoTimestamp
}
