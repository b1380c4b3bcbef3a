package pipeline

import (
	"errors"
	"fmt"
	"strings"
)

// expand replaces ${VAR} by the variable's value, ${VAR:-default} by the default when the variable is unset or empty, and
// $$ by $. Any other $ stays, unless a name follows it. expanded says whether a variable or its default was put in.
func expand(s string, env func(string) (string, bool)) (out string, expanded bool, err error) {
	var b strings.Builder
	var errs []error
	for {
		before, after, found := strings.Cut(s, "$")
		b.WriteString(before)
		switch {
		case !found:
			return b.String(), expanded, errors.Join(errs...)
		case strings.HasPrefix(after, "$"):
			b.WriteByte('$')
			s = after[1:]
		case strings.HasPrefix(after, "{"):
			body, rest, closed := strings.Cut(after[1:], "}")
			if !closed {
				return "", false, fmt.Errorf("${%s has no closing brace", body)
			}
			v, err := lookUp(body, env)
			if err != nil {
				errs = append(errs, err)
			}
			b.WriteString(v)
			expanded, s = true, rest
		default:
			if name := leadingName(after); name != "" {
				errs = append(errs, fmt.Errorf("$%s is not replaced: write ${%s}, or $$%s for the text itself", name, name, name))
			}
			b.WriteByte('$')
			s = after
		}
	}
}

func lookUp(body string, env func(string) (string, bool)) (string, error) {
	name, fallback, hasFallback := strings.Cut(body, ":-")
	if name == "" || leadingName(name) != name {
		return "", fmt.Errorf("${%s} does not name an environment variable", body)
	}
	if strings.Contains(fallback, "$") {
		return "", fmt.Errorf("the default of ${%s:-…} holds a $, which is not replaced there", name)
	}
	var v string
	var ok bool
	if env != nil {
		v, ok = env(name)
	}
	switch {
	case hasFallback && v == "":
		return fallback, nil
	case !ok:
		return "", fmt.Errorf("environment variable %s is not set", name)
	}
	return v, nil
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
