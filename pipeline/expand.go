package pipeline

import (
	"fmt"
	"strings"
)

// expand replaces ${VAR} by the variable's value, ${VAR:-default} by the default when the variable is unset or empty, and
// $$ by $. Any other $ stays, unless a name follows it. expanded says whether a variable or its default was put in. The
// faults have a problem and a fix only.
func expand(s string, env func(string) (string, bool)) (out string, expanded bool, faults Faults) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "$")
		b.WriteString(before)
		switch {
		case !found:
			return b.String(), expanded, faults
		case strings.HasPrefix(after, "$"):
			b.WriteByte('$')
			s = after[1:]
		case strings.HasPrefix(after, "{"):
			body, rest, closed := strings.Cut(after[1:], "}")
			if !closed {
				return "", false, append(faults, Fault{Problem: "${" + body + " has no closing brace", Fix: "write ${NAME}, or $${ for the text itself"})
			}
			v, fault := lookUp(body, env)
			if fault.Problem != "" {
				faults = append(faults, fault)
			}
			b.WriteString(v)
			expanded, s = true, rest
		default:
			if name := leadingName(after); name != "" {
				faults = append(faults, Fault{Problem: "$" + name + " is not replaced", Fix: fmt.Sprintf("write ${%s}, or $$%s for the text itself", name, name)})
			}
			b.WriteByte('$')
			s = after
		}
	}
}

// lookUp returns what stands for ${body}, or a fault with a problem.
func lookUp(body string, env func(string) (string, bool)) (string, Fault) {
	name, fallback, hasFallback := strings.Cut(body, ":-")
	if name == "" || leadingName(name) != name {
		return "", Fault{Problem: "${" + body + "} does not name an environment variable", Fix: "write ${NAME} or ${NAME:-default}, or $${ for the text itself"}
	}
	if strings.Contains(fallback, "$") {
		return "", Fault{Problem: "the default of ${" + name + ":-…} holds a $, which is not replaced there", Fix: "write a default without $"}
	}
	var v string
	var ok bool
	if env != nil {
		v, ok = env(name)
	}
	switch {
	case hasFallback && (!ok || v == ""):
		return fallback, Fault{}
	case !ok:
		return "", Fault{Problem: "environment variable " + name + " is not set", Fix: "set it, or write ${" + name + ":-default}"}
	}
	return v, Fault{}
}

// leadingName returns the variable name that s begins with: a letter or underscore, then those and digits.
func leadingName(s string) string {
	for i := range len(s) {
		c := s[i]
		isLetter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !isLetter && (i == 0 || c < '0' || c > '9') {
			return s[:i]
		}
	}
	return s
}
