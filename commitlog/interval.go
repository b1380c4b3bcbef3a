package commitlog

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseInterval reads the duration of a table property: "interval 1 week", "30 days 12 hours". The word interval may be
// missing, case does not matter, and months and years are refused because they have no fixed length.
func ParseInterval(text string) (time.Duration, error) {
	words := strings.Fields(strings.ToLower(text))
	if len(words) > 0 && words[0] == "interval" {
		words = words[1:]
	}
	if len(words) == 0 || len(words)%2 != 0 {
		return 0, fmt.Errorf("parse interval %q: want for example \"interval 7 days\"", text)
	}
	var total time.Duration
	for i := 0; i < len(words); i += 2 {
		n, err := strconv.ParseInt(words[i], 10, 64)
		unit, ok := intervalUnit(strings.TrimSuffix(words[i+1], "s"))
		if err != nil || !ok || n < 0 {
			return 0, fmt.Errorf("parse interval %q: %q is not a number of weeks, days, hours, minutes, seconds, milliseconds or microseconds",
				text, words[i]+" "+words[i+1])
		}
		if n > int64((math.MaxInt64-total)/unit) {
			return 0, fmt.Errorf("parse interval %q: longer than 292 years", text)
		}
		total += time.Duration(n) * unit
	}
	return total, nil
}

func intervalUnit(name string) (time.Duration, bool) {
	switch name {
	case "week":
		return 7 * 24 * time.Hour, true
	case "day":
		return 24 * time.Hour, true
	case "hour":
		return time.Hour, true
	case "minute":
		return time.Minute, true
	case "second":
		return time.Second, true
	case "millisecond":
		return time.Millisecond, true
	case "microsecond":
		return time.Microsecond, true
	}
	return 0, false
}
