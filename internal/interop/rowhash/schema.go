package rowhash

import (
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
)

// Schema lists the columns of an Arrow schema as name:type, with Delta's names of the types ("id:long",
// "tags:array<string>"), which is how the foreign engines' answers are spelled too. Whether a column may be null is left
// out, since most engines do not tell.
func Schema(s *arrow.Schema, columns ...string) []string {
	keep := make(map[string]bool, len(columns))
	for _, c := range columns {
		keep[c] = true
	}
	var out []string
	for _, f := range s.Fields() {
		if len(columns) == 0 || keep[f.Name] {
			out = append(out, f.Name+":"+typeName(f.Type))
		}
	}
	return out
}

func typeName(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.Decimal128Type:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	case *arrow.TimestampType:
		if t.TimeZone == "" {
			return "timestamp_ntz"
		}
		return "timestamp"
	case *arrow.MapType:
		return "map<" + typeName(t.KeyType()) + "," + typeName(t.ItemType()) + ">"
	case arrow.ListLikeType:
		return "array<" + typeName(t.Elem()) + ">"
	case *arrow.StructType:
		fields := make([]string, t.NumFields())
		for i, f := range t.Fields() {
			fields[i] = f.Name + ":" + typeName(f.Type)
		}
		return "struct<" + strings.Join(fields, ",") + ">"
	default:
		return flatName(t)
	}
}

func flatName(t arrow.DataType) string {
	switch t.ID() {
	case arrow.BOOL:
		return "boolean"
	case arrow.INT8:
		return "byte"
	case arrow.INT16:
		return "short"
	case arrow.INT32:
		return "integer"
	case arrow.INT64:
		return "long"
	case arrow.FLOAT32:
		return "float"
	case arrow.FLOAT64:
		return "double"
	case arrow.DATE32:
		return "date"
	case arrow.STRING, arrow.LARGE_STRING:
		return "string"
	case arrow.BINARY, arrow.LARGE_BINARY, arrow.FIXED_SIZE_BINARY:
		return "binary"
	case arrow.NULL:
		return "void"
	default:
		return t.String()
	}
}
