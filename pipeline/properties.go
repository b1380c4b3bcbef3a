package pipeline

import (
	"fmt"
	"strings"

	"github.com/sluicedata/sluice/table"
)

func (r *reader) properties(v value) map[string]string {
	pairs, _ := r.pairs(v, `a mapping such as {delta.appendOnly: "true"}`)
	out := map[string]string{}
	for _, p := range pairs {
		key := value{p.value.path, p.keyNode}
		if p.key == "" {
			r.fault(key, "a property has an empty name", "give it a name")
			continue
		}
		s, ok := r.textScalar(p.value, `"true"`)
		ok = r.property(key, p.key, s, ok) && ok
		if ok {
			out[p.key] = s.text
		}
	}
	return out
}

// property checks a property, its value only if it could be read.
func (r *reader) property(key value, name string, s scalar, read bool) bool {
	if _, fault := table.FindProperty(name); fault != nil {
		var names []string
		for _, p := range table.Properties() {
			names = append(names, p.Name)
		}
		fix := fault.Fix
		if near, ok := nearest(name, names); ok && strings.HasPrefix(fault.Problem, "unknown") {
			fix = fmt.Sprintf("did you mean %s?", near)
		}
		r.fault(key, fault.Problem, fix)
		return false
	}
	if !read {
		return true
	}
	feature, fault := table.CheckProperty(name, s.text)
	switch {
	case fault != nil:
		r.fault(s.value, s.shown()+" "+fault.Problem, fault.Fix)
	case feature != "" && feature != "appendOnly" && feature != "columnMapping":
		r.fault(s.value, fmt.Sprintf("%s asks for the table feature %s, and a pipeline makes tables that every engine reads", s.shown(), feature),
			"delete it; sluice table create and sluice table set turn features on")
	default:
		return true
	}
	return false
}
