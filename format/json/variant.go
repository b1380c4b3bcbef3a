package json

import (
	"encoding/base64"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/sluicedata/sluice/schema/variant"
)

// appendVariant appends a variant as the JSON that it stands for. What JSON has no form for is written as in columns of its
// type: binary in base64, dates and times as texts.
func appendVariant(dst, metadata, value []byte) []byte {
	v, err := variant.Decode(metadata, value)
	if err != nil {
		return appendText(dst, "(no JSON form: "+err.Error()+")")
	}
	return appendVariantValue(dst, &v)
}

func appendVariantValue(dst []byte, v *variant.Value) []byte {
	switch v.Kind {
	case variant.Null:
		return append(dst, "null"...)
	case variant.Boolean:
		return strconv.AppendBool(dst, v.Boolean)
	case variant.Integer:
		return strconv.AppendInt(dst, v.Integer, 10)
	case variant.Float:
		return appendFloat(dst, v.Float, 32)
	case variant.Double:
		return appendFloat(dst, v.Float, 64)
	case variant.Decimal:
		return append(dst, v.Unscaled.ToString(v.Scale)...)
	case variant.String:
		return appendText(dst, string(v.Bytes))
	case variant.Binary:
		dst = base64.StdEncoding.AppendEncode(append(dst, '"'), v.Bytes)
		return append(dst, '"')
	case variant.UUID:
		return appendText(dst, uuid.UUID(v.Bytes).String())
	case variant.Object, variant.Array:
		return appendVariantNested(dst, v)
	default:
		return appendVariantTime(dst, v)
	}
}

func appendVariantNested(dst []byte, v *variant.Value) []byte {
	if v.Kind == variant.Array {
		dst = append(dst, '[')
		for i := range v.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendVariantValue(dst, &v.Items[i])
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i := range v.Fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendText(dst, v.Fields[i].Name), ':')
		dst = appendVariantValue(dst, &v.Fields[i].Value)
	}
	return append(dst, '}')
}

func appendVariantTime(dst []byte, v *variant.Value) []byte {
	t := time.UnixMicro(v.Integer)
	layout := `"2006-01-02T15:04:05.999999999"`
	switch {
	case v.Kind == variant.Date:
		t, layout = time.Unix(v.Integer*86400, 0), `"2006-01-02"`
	case v.Kind == variant.Time:
		layout = `"15:04:05.999999"`
	case v.Nanos:
		t = time.Unix(0, v.Integer)
	}
	if v.Kind == variant.Timestamp {
		layout = `"2006-01-02T15:04:05.999999999Z"`
	}
	return t.UTC().AppendFormat(dst, layout)
}
