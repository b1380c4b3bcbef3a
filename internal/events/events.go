// Package events makes the benchmark record, in any number and always the same for one seed, and knows what it made.
//
// A Generator appends one shop event after the other as NDJSON and keeps a Summary of them: their number, sums and the
// order-free hash of package rowhash. So a test that lands millions of them can check a table row for row without a second
// copy. WriteFiles lands them in a folder, Produce in a Kafka topic; the command in cmd/generate does either.
//
// Invariants:
//
//   - The bytes are a function of the seed, the options and the number of the record alone, on every machine.
//   - The summary is made from the values before they become JSON, and never by parsing what was written.
package events

import (
	"math/rand/v2"
	"strconv"
	"time"
)

// Columns are the record's fields as table columns in DDL. A table of these types, and of no other, hashes to
// Summary.Hash.
const Columns = "id string, user_id long, event_type string, ts timestamp, url string, amount double, " +
	"device struct<os:string,version:string,screen_w:long>, tags array<string>, referrer string, seq long, mobile boolean"

// ColumnNames are the names of Columns, for readers that are to look at these alone.
func ColumnNames() []string {
	return []string{
		"id", "user_id", "event_type", "ts", "url", "amount", "device", "tags", "referrer", "seq", "mobile",
	}
}

const (
	startMillis    = 1714560000000 // 2024-05-01T10:40:00Z
	stepMillis     = 3
	jitterMillis   = 200
	firstUser      = 1_000_000_000
	users          = 2_000_000
	maxAmountCents = 200_000
)

// Generator makes records. Not safe for concurrent use.
type Generator struct {
	// Step is the distance in time of one record from the next. Zero means 3 ms. A longer one spreads the records
	// over more days.
	Step time.Duration

	rng   *rand.Rand
	made  int64
	text  []byte // scratch for the canonical text
	tally tally
}

// New makes a generator for a seed.
func New(seed uint64) *Generator {
	return &Generator{rng: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))}
}

// Append appends the next record and a newline.
func (g *Generator) Append(buf []byte) []byte {
	e := g.next()
	from := len(buf)
	buf = append(e.appendJSON(buf), '\n')
	g.text = e.appendCanonical(g.text[:0])
	g.tally.count(&e, g.text, len(buf)-from)
	return buf
}

// AppendBad appends a line that no decoder may accept for Columns, and a newline. The kinds take turns: cut short, text
// for a number, a number too large, bytes that are not UTF-8.
func (g *Generator) AppendBad(buf []byte) []byte {
	from := len(buf)
	n := strconv.FormatInt(g.tally.bad, 10)
	switch g.tally.bad % 4 {
	case 0:
		buf = append(buf, `{"id":"bad-`+n+`","user_id":`...)
	case 1:
		buf = append(buf, `{"id":"bad-`+n+`","user_id":"not a number"}`...)
	case 2:
		buf = append(buf, `{"id":"bad-`+n+`","user_id":9223372036854775808}`...)
	default:
		buf = append(buf, `{"id":"bad-`+n+"\xff\xfe"+`","user_id":1}`...)
	}
	buf = append(buf, '\n')
	g.tally.countBad(len(buf) - from)
	return buf
}

// Summary tells of all that was appended so far.
func (g *Generator) Summary() Summary { return g.tally.summary() }

// next draws the values of a record. The order of the draws is part of what a seed means.
func (g *Generator) next() event {
	r := g.rng
	step := g.Step.Milliseconds()
	if step <= 0 {
		step = stepMillis
	}
	e := event{
		id:     [2]uint64{r.Uint64(), r.Uint64()},
		userID: firstUser + r.Int64N(users),
		millis: startMillis + g.made*step + r.Int64N(jitterMillis),
	}
	g.made++
	u := r.Float64()
	e.kind = kinds[int(u*u*float64(len(kinds)))]
	e.path, e.slug = pick(r, paths), pick(r, slugs)
	e.item, e.campaign, e.session = r.IntN(100_000), pick(r, tags), r.IntN(1000)
	e.hasAmount = r.IntN(10) >= 3
	e.cents = r.Int64N(maxAmountCents)
	e.os, e.version, e.width = pick(r, systems), pick(r, versions), pick(r, widths)
	e.tagCount = r.IntN(4)
	for i := range e.tagCount {
		e.tags[i] = pick(r, tags)
	}
	e.referrer = drawReferrer(r)
	e.hasSeq = r.IntN(10) >= 2
	e.seq = r.Int64N(100_000)
	return e
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

func drawReferrer(r *rand.Rand) referrer {
	switch n := r.IntN(100); {
	case n < 30:
		return referrer{}
	case n < 32:
		return escapedReferrer
	default:
		return pick(r, referrers)
	}
}
