package schema

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
)

// ddlNames are the spellings that DDL writes.
var ddlNames = map[Kind]string{
	Boolean: "boolean", Byte: "byte", Short: "short", Integer: "int", Long: "long", Float: "float", Double: "double",
	String: "string", Binary: "binary", Date: "date", Timestamp: "timestamp", TimestampNTZ: "timestamp_ntz",
	Void: "void", Variant: "variant",
}

// DDL returns the type as ParseDDL reads it. What DDL has no words for is left out: containsNull of arrays and maps, and
// field metadata other than the comment. ParseDDL does not take void, which nobody should want in a new table.
func (t *Type) DDL() string {
	var b strings.Builder
	t.writeDDL(&b)
	return b.String()
}

func (t *Type) writeDDL(b *strings.Builder) {
	switch t.Kind {
	case Struct:
		b.WriteString("struct<")
		for i := range t.Fields {
			if i > 0 {
				b.WriteByte(',')
			}
			t.Fields[i].writeDDL(b)
		}
		b.WriteByte('>')
	case Array:
		b.WriteString("array<")
		t.Elem.writeDDL(b)
		b.WriteByte('>')
	case Map:
		b.WriteString("map<")
		t.Key.writeDDL(b)
		b.WriteByte(',')
		t.Elem.writeDDL(b)
		b.WriteByte('>')
	case Decimal:
		b.WriteString("decimal(" + strconv.Itoa(t.Precision) + "," + strconv.Itoa(t.Scale) + ")")
	default:
		b.WriteString(ddlNames[t.Kind])
	}
}

func (f *Field) writeDDL(b *strings.Builder) {
	b.WriteString(quoteName(f.Name))
	b.WriteByte(':')
	f.Type.writeDDL(b)
	if !f.Nullable {
		b.WriteString(" NOT NULL")
	}
	var comment string
	if raw, ok := f.Metadata["comment"]; ok && json.Unmarshal(raw, &comment) == nil {
		b.WriteString(" COMMENT '" + strings.ReplaceAll(comment, "'", "''") + "'")
	}
}

func quoteName(name string) string {
	plain := name != ""
	for _, r := range name {
		plain = plain && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
	}
	if plain {
		return name
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}
