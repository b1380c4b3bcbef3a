package json_test

import (
	"time"

	"github.com/valyala/fastjson"

	"github.com/sluicedata/sluice/source"
)

// fastEvents are benchmark events as columns, filled by valyala/fastjson: what a writer of such a decoder would write by hand.
type fastEvents struct {
	parser fastjson.Parser

	id, kind, url, referrer, os, version, tags texts
	user, at                                   []int64
	amount                                     []float64
	width, seq, tagEnds                        []int32
	mobile                                     []bool
}

// texts are strings, one behind another.
type texts struct {
	bytes []byte
	ends  []int32
}

func (t *texts) add(text []byte) {
	t.bytes = append(t.bytes, text...)
	t.ends = append(t.ends, int32(len(t.bytes)))
}

func (e *fastEvents) reset() {
	for _, t := range []*texts{&e.id, &e.kind, &e.url, &e.referrer, &e.os, &e.version, &e.tags} {
		t.bytes, t.ends = t.bytes[:0], t.ends[:0]
	}
	e.user, e.at, e.amount, e.width, e.seq, e.tagEnds, e.mobile = e.user[:0], e.at[:0], e.amount[:0], e.width[:0], e.seq[:0], e.tagEnds[:0], e.mobile[:0]
}

func (e *fastEvents) decode(records *source.Block) error {
	for _, record := range records.Values {
		v, err := e.parser.ParseBytes(record)
		if err != nil {
			return err
		}
		at, err := time.Parse(time.RFC3339, string(v.GetStringBytes("ts")))
		if err != nil {
			return err
		}
		e.id.add(v.GetStringBytes("id"))
		e.user = append(e.user, v.GetInt64("user_id"))
		e.kind.add(v.GetStringBytes("event_type"))
		e.at = append(e.at, at.UnixMicro())
		e.url.add(v.GetStringBytes("url"))
		e.amount = append(e.amount, v.GetFloat64("amount"))
		device := v.Get("device")
		e.os.add(device.GetStringBytes("os"))
		e.version.add(device.GetStringBytes("version"))
		e.width = append(e.width, int32(device.GetInt("screen_w")))
		for _, tag := range v.GetArray("tags") {
			e.tags.add(tag.GetStringBytes())
		}
		e.tagEnds = append(e.tagEnds, int32(len(e.tags.ends)))
		e.referrer.add(v.GetStringBytes("referrer"))
		e.seq = append(e.seq, int32(v.GetInt("seq")))
		e.mobile = append(e.mobile, v.GetBool("mobile"))
	}
	return nil
}
