package events

import (
	"strconv"
	"time"

	"github.com/sluicedata/sluice/internal/interop/rowhash"
)

const host = "https://shop.example.com"

// event holds the values of one record.
type event struct {
	id                [2]uint64
	userID, millis    int64
	kind              string
	path, slug        string
	item, session     int
	campaign          string
	hasAmount, hasSeq bool
	cents, seq        int64
	os, version       string
	width             int64
	tags              [3]string
	tagCount          int
	referrer          referrer
}

func (e *event) mobile() bool { return e.os == "ios" || e.os == "android" }

func (e *event) appendJSON(b []byte) []byte {
	b = append(b, `{"id":"`...)
	b = e.appendID(b)
	b = append(b, `","user_id":`...)
	b = strconv.AppendInt(b, e.userID, 10)
	b = append(b, `,"event_type":"`...)
	b = append(b, e.kind...)
	b = append(b, `","ts":"`...)
	b = time.UnixMilli(e.millis).UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z")
	b = append(b, `","url":"`...)
	b = e.appendURL(b)
	b = append(b, `","amount":`...)
	b = e.appendAmount(b)
	b = append(b, `,"device":{"os":"`...)
	b = append(b, e.os...)
	b = append(b, `","version":"`...)
	b = append(b, e.version...)
	b = append(b, `","screen_w":`...)
	b = strconv.AppendInt(b, e.width, 10)
	b = append(b, `},"tags":[`...)
	b = e.appendTags(b)
	b = append(b, `],"referrer":`...)
	if e.referrer.json == "" {
		b = append(b, `null`...)
	} else {
		b = append(b, e.referrer.json...)
	}
	if e.hasSeq {
		b = append(b, `,"seq":`...)
		b = strconv.AppendInt(b, e.seq, 10)
	}
	b = append(b, `,"mobile":`...)
	b = strconv.AppendBool(b, e.mobile())
	return append(b, '}')
}

// appendID renders the id as a random UUID (RFC 9562, version 4).
func (e *event) appendID(b []byte) []byte {
	const digits = "0123456789abcdef"
	hi := e.id[0]&^0xf000 | 0x4000
	lo := e.id[1]&^(3<<62) | 2<<62
	for i := range 32 {
		if i == 8 || i == 12 || i == 16 || i == 20 {
			b = append(b, '-')
		}
		word := hi
		if i >= 16 {
			word = lo
		}
		b = append(b, digits[word>>(60-4*(i%16))&0xf])
	}
	return b
}

func (e *event) appendURL(b []byte) []byte {
	b = append(b, host...)
	b = append(b, e.path...)
	b = append(b, '/')
	b = strconv.AppendInt(b, int64(e.item), 10)
	b = append(b, '/')
	b = append(b, e.slug...)
	b = append(b, "?ref="...)
	b = append(b, e.campaign...)
	b = append(b, "&s="...)
	return strconv.AppendInt(b, int64(e.session), 10)
}

func (e *event) appendAmount(b []byte) []byte {
	if !e.hasAmount {
		return append(b, `null`...)
	}
	b = strconv.AppendInt(b, e.cents/100, 10)
	return append(b, '.', byte('0'+e.cents/10%10), byte('0'+e.cents%10))
}

func (e *event) appendTags(b []byte) []byte {
	for i, t := range e.tags[:e.tagCount] {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, t...)
		b = append(b, '"')
	}
	return b
}

// appendCanonical appends the row as rowhash defines it: the columns by name.
func (e *event) appendCanonical(b []byte) []byte {
	b = e.canonicalAmount(b)
	b = append(b, rowhash.Separator, '{')
	b = append(rowhash.AppendString(b, e.os), ',')
	b = append(rowhash.AppendString(b, e.version), ',')
	b = append(rowhash.AppendInt(b, e.width), '}', rowhash.Separator)
	b = append(rowhash.AppendString(b, e.kind), rowhash.Separator)
	b = append(b, "36:"...)
	b = append(e.appendID(b), rowhash.Separator)
	b = append(rowhash.AppendBool(b, e.mobile()), rowhash.Separator)
	b = append(e.canonicalReferrer(b), rowhash.Separator)
	b = append(e.canonicalSeq(b), rowhash.Separator)
	b = append(e.canonicalTags(b), rowhash.Separator)
	b = append(rowhash.AppendInt(b, e.millis*1000), rowhash.Separator)
	var url [160]byte
	b = append(rowhash.AppendString(b, e.appendURL(url[:0])), rowhash.Separator)
	return rowhash.AppendInt(b, e.userID)
}

// canonicalAmount: the quotient of two exact integers is the double nearest to the digits.
func (e *event) canonicalAmount(b []byte) []byte {
	if !e.hasAmount {
		return rowhash.AppendNull(b)
	}
	return rowhash.AppendDouble(b, float64(e.cents)/100)
}

func (e *event) canonicalReferrer(b []byte) []byte {
	if e.referrer.json == "" {
		return rowhash.AppendNull(b)
	}
	return rowhash.AppendString(b, e.referrer.value)
}

func (e *event) canonicalSeq(b []byte) []byte {
	if !e.hasSeq {
		return rowhash.AppendNull(b)
	}
	return rowhash.AppendInt(b, e.seq)
}

func (e *event) canonicalTags(b []byte) []byte {
	b = append(b, '[')
	for i, t := range e.tags[:e.tagCount] {
		if i > 0 {
			b = append(b, ',')
		}
		b = rowhash.AppendString(b, t)
	}
	return append(b, ']')
}
