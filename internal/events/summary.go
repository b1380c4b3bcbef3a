package events

import (
	"time"

	"github.com/sluicedata/sluice/internal/interop/rowhash"
)

// Summary is what is known of a run of records.
type Summary struct {
	Records   int64            `json:"records"` // good ones
	Bad       int64            `json:"bad"`
	Bytes     int64            `json:"bytes"` // of NDJSON, good and bad, newlines included
	Hash      string           `json:"hash"`  // of the good records as rows of Columns
	UserIDSum int64            `json:"user_id_sum"`
	MinTS     time.Time        `json:"min_ts"`
	MaxTS     time.Time        `json:"max_ts"`
	Days      map[string]int64 `json:"days"` // good records by UTC day of ts
}

const dayMillis = 24 * 60 * 60 * 1000

// tally is a summary in the making.
type tally struct {
	records, bad, bytes  int64
	userIDSum            int64
	sum                  rowhash.Sum
	minMillis, maxMillis int64
	days                 map[int64]*int64 // by first ms of the day
	day                  int64            // the day counted last, and its count
	dayCount             *int64
}

func (t *tally) count(e *event, canonical []byte, bytes int) {
	if t.records == 0 || e.millis < t.minMillis {
		t.minMillis = e.millis
	}
	if t.records == 0 || e.millis > t.maxMillis {
		t.maxMillis = e.millis
	}
	t.records++
	t.bytes += int64(bytes)
	t.userIDSum += e.userID
	t.sum.Add(canonical)
	if day := e.millis - e.millis%dayMillis; t.dayCount == nil || day != t.day {
		t.openDay(day)
	}
	*t.dayCount++
}

func (t *tally) countBad(bytes int) {
	t.bad++
	t.bytes += int64(bytes)
}

func (t *tally) openDay(day int64) {
	if t.days == nil {
		t.days = map[int64]*int64{}
	}
	if t.days[day] == nil {
		t.days[day] = new(int64)
	}
	t.day, t.dayCount = day, t.days[day]
}

func (t *tally) summary() Summary {
	out := Summary{
		Records: t.records, Bad: t.bad, Bytes: t.bytes, Hash: t.sum.Hash(), UserIDSum: t.userIDSum,
		Days: make(map[string]int64, len(t.days)),
	}
	if t.records > 0 {
		out.MinTS, out.MaxTS = time.UnixMilli(t.minMillis).UTC(), time.UnixMilli(t.maxMillis).UTC()
	}
	for day, n := range t.days {
		out.Days[time.UnixMilli(day).UTC().Format(time.DateOnly)] = *n
	}
	return out
}
