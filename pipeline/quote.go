package pipeline

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// quoteValue writes text as a YAML scalar that a pipeline file reads back as it is: $ doubled, quotes where they are needed.
func quoteValue(s string) string {
	return quote(strings.ReplaceAll(s, "$", "$$"))
}

func quoteList(values []string) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = quoteValue(v)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// quote writes text as a YAML scalar, plain where every YAML reader takes it for text, else in double quotes
// (YAML 1.2, 7.3.1).
func quote(s string) string {
	plain := regexp.MustCompile(`^[A-Za-z_./$][A-Za-z0-9_./$*-]*$`).MatchString(s) && !isLooseBool(s)
	if plain && (&yaml.Node{Kind: yaml.ScalarNode, Value: s}).ShortTag() == "!!str" {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case isPrintable(r) && !isBreak(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// isPrintable says whether a character may stand in YAML as it is (YAML 1.2, 5.1), the byte order mark excepted.
func isPrintable(r rune) bool {
	return r >= 0x20 && r <= 0x7e || r >= 0xa0 && r <= 0xd7ff || r >= 0xe000 && r <= 0xfffd && r != 0xfeff || r >= 0x10000
}

// isBreak says whether YAML 1.1 readers take a printable character for a line break.
func isBreak(r rune) bool { return r == 0x2028 || r == 0x2029 }
