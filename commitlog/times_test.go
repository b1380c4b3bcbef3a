package commitlog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// timedLog is a log whose versions from 0 on were stored at these milliseconds, and have in-commit timestamps from a version on.
func timedLog(t *testing.T, stored []int64, inside int, enabled int64) *Log {
	t.Helper()
	s := newMemStore()
	s.modified = map[string]time.Time{}
	protocol := `{"protocol":{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["inCommitTimestamp"]}}`
	configuration := ""
	switch {
	case inside == 0:
		configuration = `"delta.enableInCommitTimestamps":"true"`
	case inside > 0:
		configuration = fmt.Sprintf(`"delta.enableInCommitTimestamps":"true","delta.inCommitTimestampEnablementVersion":"%d","delta.inCommitTimestampEnablementTimestamp":"%d"`, inside, enabled)
	}
	on := strings.Replace(lineMetadata, `"configuration":{}`, `"configuration":{`+configuration+`}`, 1)
	for v, at := range stored {
		var lines []string
		if inside >= 0 && v >= inside {
			lines = append(lines, fmt.Sprintf(`{"commitInfo":{"inCommitTimestamp":%d}}`, 10_000+10*int64(v)))
		} else {
			lines = append(lines, lineInfo("w"))
		}
		switch {
		case v == 0 && inside == 0:
			lines = append(lines, protocol, on)
		case v == 0:
			lines = append(lines, protocol, lineMetadata)
		case v == inside:
			lines = append(lines, on)
		}
		s.write(int64(v), lines...)
		s.modified[commitKey(int64(v))] = time.UnixMilli(at)
	}
	l := New(s)
	l.now = func() time.Time { return time.UnixMilli(50_000) }
	return l
}

func TestVersionOfATime(t *testing.T) {
	plain := []int64{100, 200, 150, 150, 900} // which are 100, 200, 201, 202, 900
	for name, c := range map[string]struct {
		stored  []int64
		inside  int
		enabled int64
		want    map[int64]any // version, or part of the error, by time
	}{
		"by the files": {plain, -1, 0, map[int64]any{
			99: "created later", 100: 0, 199: 0, 200: 1, 201: 2, 202: 3, 899: 3, 900: 4, 50_000: 4, 50_001: "yet to come",
		}},
		"by the commits": {plain, 0, 0, map[int64]any{
			9_999: "created later", 10_000: 0, 10_009: 0, 10_010: 1, 10_039: 3, 10_040: 4, 20_000: 4,
		}},
		"by the commits from one on": {plain, 3, 10_030, map[int64]any{
			99: "created later", 100: 0, 201: 2, 899: 2, 10_029: 2, 10_030: 3, 10_039: 3, 10_040: 4,
		}},
	} {
		times, err := timedLog(t, c.stored, c.inside, c.enabled).Times(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for at, want := range c.want {
			got, err := times.Version(t.Context(), time.UnixMilli(at))
			switch want := want.(type) {
			case int:
				if err != nil || got != int64(want) {
					t.Errorf("%s: at %d is version %d, %v; want %d", name, at, got, err, want)
				}
			case string:
				if !errors.Is(err, ErrNoVersion) || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: at %d is version %d, %v", name, at, got, err)
				}
			}
		}
	}
}

// TestTimesOfCommitsAreThoseThatVersionsAreFoundBy asks for each version by its own time, and by the millisecond before.
func TestTimesOfCommitsAreThoseThatVersionsAreFoundBy(t *testing.T) {
	l := timedLog(t, []int64{100, 200, 150, 150, 900, 901}, 4, 10_040)
	times, err := l.Times(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := int64(5)
	for c, err := range l.Backwards(t.Context(), -1) {
		if err != nil {
			t.Fatal(err)
		}
		at := times.Of(c)
		if v, err := times.Version(t.Context(), at); err != nil || v != want || c.Version != want {
			t.Errorf("version %d is of %d, at which there was version %d, %v", c.Version, at.UnixMilli(), v, err)
		}
		if v, err := times.Version(t.Context(), at.Add(-time.Millisecond)); want > 0 && (err != nil || v != want-1) {
			t.Errorf("before version %d there was version %d, %v", c.Version, v, err)
		}
		want--
	}
	if want != -1 {
		t.Errorf("ended before version %d", want)
	}
}

func TestTimesOfALogWhoseBeginningIsGone(t *testing.T) {
	l := timedLog(t, []int64{100, 200, 300, 400}, -1, 0)
	if _, err := l.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.store.(*memStore).drop(1) // 0 is left over
	times, err := l.Times(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if v, err := times.Version(t.Context(), time.UnixMilli(350)); err != nil || v != 2 {
		t.Error(v, err)
	}
	if _, err := times.Version(t.Context(), time.UnixMilli(250)); err == nil || !strings.Contains(err.Error(), "the oldest that is left is of version 2") {
		t.Error(err)
	}
}

func TestMissingInCommitTimestampIsDamage(t *testing.T) {
	l := timedLog(t, []int64{100, 200, 300}, 0, 0)
	times, err := l.Times(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l.store.(*memStore).write(1, lineInfo("w"))
	var corrupt *CorruptError
	if _, err := times.Version(t.Context(), time.UnixMilli(10_005)); !errors.As(err, &corrupt) || corrupt.Version != 1 {
		t.Error(err)
	}
}

func TestBackwards(t *testing.T) {
	s, l := newTable(t)
	for v := int64(1); v < 40; v++ {
		s.write(v, lineInfo("w"), lineAdd(fmt.Sprint(v)))
	}
	var got []int64
	for c, err := range l.Backwards(context.Background(), 37) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, c.Version); c.Version == 3 {
			break
		}
	}
	if len(got) != 35 || got[0] != 37 || got[34] != 3 {
		t.Errorf("%v", got)
	}
	s.drop(20)
	for c, err := range l.Backwards(context.Background(), -1) {
		var corrupt *CorruptError
		if c != nil || !errors.As(err, &corrupt) || corrupt.Version != 20 {
			t.Errorf("%v, %v", c, err)
		}
	}
	for v := range int64(20) {
		s.drop(v)
	}
	for _, version := range []int64{20, 40} { // the commit of one has been cleaned up, the other is yet to come
		for c, err := range l.Backwards(context.Background(), version) {
			if c != nil || !errors.Is(err, ErrNoVersion) {
				t.Errorf("from version %d: %v, %v", version, c, err)
			}
		}
	}
	for _, err := range New(newMemStore()).Backwards(context.Background(), -1) {
		if !errors.Is(err, ErrNoTable) {
			t.Error(err)
		}
	}
}
