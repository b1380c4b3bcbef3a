package pipeline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// scalar is a single value with its variables replaced.
type scalar struct {
	value
	text     string
	expanded bool
}

// shown is the value for a message. What came from the environment is named, not shown.
func (s scalar) shown() string {
	if s.expanded {
		return fmt.Sprintf("%q with the environment's value", s.node.Value)
	}
	return strconv.Quote(s.text)
}

// because appends a reason that quotes the value, unless that came from the environment.
func (s scalar) because(reason string) string {
	if s.expanded {
		return ""
	}
	return ": " + reason
}

// isTagged says whether YAML resolves the value, as it stands in the file, to one of the types.
func (s scalar) isTagged(tags ...string) bool {
	return slices.Contains(tags, s.node.ShortTag())
}

func (r *reader) scalar(v value, example string) (scalar, bool) {
	if !r.isKind(v, yaml.ScalarNode, example) {
		return scalar{}, false
	}
	text, expanded, faults := expand(v.node.Value, r.env)
	for _, f := range faults {
		r.fault(v, f.Problem, f.Fix)
	}
	return scalar{value: v, text: text, expanded: expanded}, len(faults) == 0
}

// str returns a text that is not empty. Unquoted numbers and booleans are at fault, since YAML readers do not agree on
// what they are.
func (r *reader) str(v value, example string) (string, bool) {
	s, ok := r.textScalar(v, example)
	return s.text, ok
}

func (r *reader) textScalar(v value, example string) (scalar, bool) {
	s, ok := r.scalar(v, example)
	if !ok {
		return s, false
	}
	quoted := "write it in quotes: " + strconv.Quote(s.node.Value)
	switch {
	case s.isTagged("!!int", "!!float"):
		r.fault(v, "is a number where text is expected", quoted)
	case s.isTagged("!!bool"), v.node.Style == 0 && isLooseBool(s.node.Value):
		r.fault(v, fmt.Sprintf("%s without quotes is a boolean in YAML, and text is expected", s.node.Value), quoted)
	case s.text == "":
		r.fault(v, "is empty", "write "+example)
	default:
		return s, true
	}
	return s, false
}

// isLooseBool says whether YAML 1.1 takes a word for a boolean that YAML 1.2 takes for text.
func isLooseBool(s string) bool {
	return slices.Contains([]string{"yes", "no", "on", "off"}, strings.ToLower(s))
}

// secret returns a text that no fault shows.
func (r *reader) secret(v value) (Secret, bool) {
	s, ok := r.scalar(v, `"${KAFKA_PASSWORD}"`)
	switch {
	case !ok:
		return "", false
	case s.text == "":
		r.fault(v, "is empty", `write "${KAFKA_PASSWORD}", and set that variable`)
		return "", false
	case !s.expanded && s.isTagged("!!int", "!!float", "!!bool"):
		r.fault(v, "is a number or boolean where text is expected", `write it in quotes, or better as "${KAFKA_PASSWORD}"`)
		return "", false
	}
	return Secret(s.text), true
}

func (r *reader) strs(v value, example string) ([]string, bool) {
	items, ok := r.list(v, "["+example+"]")
	var out []string
	for _, item := range items {
		s, good := r.str(item, example)
		ok = ok && good
		out = append(out, s)
	}
	return out, ok
}

// integer returns a whole number of at least least.
func (r *reader) integer(v value, least int64, example string) (int64, bool) {
	s, ok := r.scalar(v, example)
	if !ok {
		return 0, false
	}
	if !s.expanded && s.isTagged("!!str") && v.node.Style != 0 {
		r.fault(v, "is text where a number is expected", "write it without quotes: "+example)
		return 0, false
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(s.text, "_", ""), 10, 64)
	if err != nil {
		r.fault(v, s.shown()+" is not a whole number of 64 bits", "write a number such as "+example)
		return 0, false
	}
	return n, r.atLeast(s, n, least, example)
}

func (r *reader) atLeast(s scalar, n, least int64, example string) bool {
	if n < least {
		r.fault(s.value, fmt.Sprintf("%s is less than %d", s.shown(), least), "write a value such as "+example)
	}
	return n >= least
}

func (r *reader) boolean(v value) (bool, bool) {
	s, ok := r.scalar(v, "true or false")
	if !ok {
		return false, false
	}
	isText := !s.expanded && s.isTagged("!!str") && v.node.Style != 0
	if isText || s.text != "true" && s.text != "false" {
		r.fault(v, s.shown()+" is not a boolean", "write true or false, without quotes")
		return false, false
	}
	return s.text == "true", true
}

// size returns a number of bytes above 0.
func (r *reader) size(v value, example string) (int64, bool) {
	s, ok := r.scalar(v, example)
	if !ok {
		return 0, false
	}
	n, err := ParseSize(s.text)
	if err != nil {
		r.fault(v, s.shown()+" "+err.Error(), fmt.Sprintf("write a size such as %s (decimal) or 256MiB (binary)", example))
		return 0, false
	}
	return n, r.atLeast(s, n, 1, example)
}

func (r *reader) duration(v value, example string) (time.Duration, bool) {
	s, ok := r.scalar(v, example)
	if !ok {
		return 0, false
	}
	d, err := parseDuration(s.text)
	if err != nil {
		r.fault(v, s.shown()+" "+err.Error(), fmt.Sprintf("write a duration such as %s, 500ms, 1m or 1h30m", example))
		return 0, false
	}
	return d, true
}

// oneOf reads one of a few words into dst.
func oneOf[T ~string](r *reader, v value, dst *T, words ...T) bool {
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = string(w)
	}
	list := strings.Join(names, ", ")
	s, ok := r.textScalar(v, "one of "+list)
	if !ok {
		return false
	}
	if slices.Contains(names, s.text) {
		*dst = T(s.text)
		return true
	}
	fix := "write one of " + list
	if near, ok := nearest(s.text, names); ok && !s.expanded {
		fix = fmt.Sprintf("did you mean %s? One of %s", near, list)
	}
	r.fault(v, s.shown()+" is not known here", fix)
	return false
}
