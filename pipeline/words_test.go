package pipeline

import (
	"testing"
	"time"
)

func TestParseSize(t *testing.T) {
	for in, want := range map[string]int64{
		"0": 0, "1": 1, "1048576": 1 << 20, "1_000": 1000, "5B": 5, "1kB": 1000, "1KB": 1000, "256MB": 256_000_000, "256 MB": 256_000_000,
		"256MiB": 256 << 20, "2GB": 2e9, "2GiB": 2 << 30, "1TB": 1e12, "1TiB": 1 << 40, "1KiB": 1024, "8388607TiB": 8388607 << 40,
	} {
		if got, err := ParseSize(in); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{
		"", "MB", "-1", "+1", "1.5GB", "1e3", "256Mb", "256M", "256mb", "1  MB", "1MB ", "8388608TiB", "9223372036854775808", "0x10", "_", "ten",
	} {
		if got, err := ParseSize(in); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", in, got)
		}
	}
}

func TestParseTrigger(t *testing.T) {
	for in, want := range map[string]Trigger{
		"available-now": {Mode: AvailableNow}, "continuous": {Mode: Continuous},
		"every 1m": {Mode: Every, Every: time.Minute}, "every  500ms": {Mode: Every, Every: 500 * time.Millisecond},
	} {
		got, err := ParseTrigger(in)
		if err != nil || got != want {
			t.Errorf("ParseTrigger(%q) = %v, %v; want %v", in, got, err, want)
		}
		if again, err := ParseTrigger(got.String()); err != nil || again != got {
			t.Errorf("ParseTrigger(%q) = %v, %v; want %v", got.String(), again, err, got)
		}
	}
	for _, in := range []string{"", "now", "every", "every 10", "every -1s", "every 0s", "1m", "every 1m 2m", "Continuous", "every minute"} {
		if got, err := ParseTrigger(in); err == nil {
			t.Errorf("ParseTrigger(%q) = %v, want an error", in, got)
		}
	}
}

func TestNearestKnowsTyposAndNotStrangers(t *testing.T) {
	known := []string{"name", "source", "columns", "table", "checkpoint", "on_error", "batch"}
	for word, want := range map[string]string{
		"nmae": "name", "Name": "name", "sources": "source", "colunms": "columns", "onerror": "on_error", "on-error": "on_error",
		"check_point": "checkpoint", "tabel": "table", "": "", "zzzz": "", "x": "", "transform": "",
	} {
		if got, _ := nearest(word, known); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3},
	} {
		if got := edits(c.a, c.b); got != c.want {
			t.Errorf("edits(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
