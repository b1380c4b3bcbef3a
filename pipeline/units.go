package pipeline

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseSize reads a number of bytes: 1048576, 256MB (decimal, 10^6) or 256MiB (binary, 2^20). Units are B, kB or KB, MB,
// GB, TB and KiB, MiB, GiB, TiB; a space may stand before them.
func ParseSize(s string) (int64, error) {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789_"))
	number, err := strconv.ParseInt(strings.ReplaceAll(s[:digits], "_", ""), 10, 64)
	if err != nil {
		return 0, errors.New("is not a size")
	}
	unit := strings.TrimPrefix(s[digits:], " ")
	factor := unitBytes(unit)
	if factor == 0 {
		return 0, fmt.Errorf("has an unknown unit %q", unit)
	}
	if number > math.MaxInt64/factor {
		return 0, errors.New("is more than 9223372036854775807 bytes")
	}
	return number * factor, nil
}

func unitBytes(unit string) int64 {
	switch unit {
	case "", "B":
		return 1
	case "kB", "KB":
		return 1e3
	case "MB":
		return 1e6
	case "GB":
		return 1e9
	case "TB":
		return 1e12
	case "KiB":
		return 1 << 10
	case "MiB":
		return 1 << 20
	case "GiB":
		return 1 << 30
	case "TiB":
		return 1 << 40
	default:
		return 0
	}
}

// parseDuration reads a duration in Go's spelling ("90s", "1m30s", "1.5h"), without a sign.
func parseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	switch {
	case err != nil && strings.Trim(s, "0123456789.") == "", s == "0":
		return 0, errors.New("is a number without a unit")
	case err != nil:
		return 0, errors.New("is not a duration")
	case strings.HasPrefix(s, "-"), strings.HasPrefix(s, "+"):
		return 0, errors.New("has a sign")
	}
	return d, nil
}
