package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// reader walks the YAML nodes of one file, and collects positions and faults. Its methods return false when there is a
// fault, already noted, instead of a value.
type reader struct {
	file      string
	env       func(string) (string, bool)
	faults    Faults
	positions map[string]Position
}

// value is a node and the path that leads to it.
type value struct {
	path string
	node *yaml.Node
}

// pair is a key of a mapping with its value.
type pair struct {
	key     string
	keyNode *yaml.Node
	value   value
}

func (r *reader) position(n *yaml.Node) Position {
	return Position{File: r.file, Line: n.Line, Column: n.Column}
}

func (r *reader) fault(v value, problem, fix string) {
	r.faults = append(r.faults, Fault{Position: r.position(v.node), Path: v.path, Problem: problem, Fix: fix})
}

// faultAt notes a fault of a path whose value has been read already.
func (r *reader) faultAt(path, problem, fix string) {
	f := File{origin: r.file, positions: r.positions}
	r.faults = append(r.faults, f.Fault(path, problem, fix))
}

// pairs returns the entries of a mapping, of which none is twice.
func (r *reader) pairs(v value, want string) ([]pair, bool) {
	if !r.isKind(v, yaml.MappingNode, want) {
		return nil, false
	}
	seen := map[string]int{}
	var out []pair
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		k, content := v.node.Content[i], resolved(v.node.Content[i+1])
		at := value{path: join(v.path, k.Value), node: k}
		switch {
		case k.Kind != yaml.ScalarNode:
			r.fault(value{v.path, k}, "a key is not plain text", "write the key as plain text")
		case k.Value == "<<" && k.Style == 0:
			r.fault(at, "merge keys are not read", "write out the keys that it would bring")
		case seen[k.Value] > 0:
			r.fault(at, fmt.Sprintf("key %q is already on line %d", k.Value, seen[k.Value]), "keep one of them")
		default:
			seen[k.Value] = k.Line
			r.positions[at.path] = r.position(content)
			out = append(out, pair{key: k.Value, keyNode: k, value: value{at.path, content}})
		}
	}
	return out, true
}

// section returns the values of a mapping by key, having found fault with unknown keys. name is that of sections().
func (r *reader) section(v value, name string) (map[string]value, bool) {
	known := keysOf(name)
	pairs, ok := r.pairs(v, "a mapping with "+strings.Join(known, ", "))
	if !ok {
		return nil, false
	}
	fields := map[string]value{}
	for _, p := range pairs {
		if !slices.Contains(known, p.key) {
			r.fault(value{p.value.path, p.keyNode}, fmt.Sprintf("unknown key %q", p.key), unknownKeyFix(name, p.key))
			continue
		}
		fields[p.key] = p.value
	}
	return fields, true
}

// need returns the value of a required key; without it, the mapping is at fault.
func (r *reader) need(fields map[string]value, in value, key, example string) (value, bool) {
	v, ok := fields[key]
	if !ok {
		r.fault(value{join(in.path, key), in.node}, "is missing", fmt.Sprintf("write %s: %s", key, example))
	}
	return v, ok
}

// list returns the items of a sequence that has at least one.
func (r *reader) list(v value, example string) ([]value, bool) {
	if v.node.Kind == yaml.ScalarNode && v.node.ShortTag() != "!!null" {
		r.fault(v, "is one value where a list is expected", "write "+example)
		return nil, false
	}
	if !r.isKind(v, yaml.SequenceNode, "a list such as "+example) {
		return nil, false
	}
	if len(v.node.Content) == 0 {
		r.fault(v, "is an empty list", "write "+example)
		return nil, false
	}
	items := make([]value, len(v.node.Content))
	for i, n := range v.node.Content {
		items[i] = value{path: fmt.Sprintf("%s[%d]", v.path, i), node: resolved(n)}
		r.positions[items[i].path] = r.position(items[i].node)
	}
	return items, true
}

func (r *reader) isKind(v value, kind yaml.Kind, want string) bool {
	switch {
	case v.node.Kind == yaml.ScalarNode && v.node.ShortTag() == "!!null":
		r.fault(v, "has no value", "write "+want+", or delete the key")
	case v.node.Kind != kind:
		r.fault(v, fmt.Sprintf("is %s where %s is expected", kindName(v.node.Kind), kindName(kind)), "write "+want)
	case v.node.Style&yaml.TaggedStyle != 0:
		r.fault(v, fmt.Sprintf("has the YAML tag %s, which is not read", v.node.Tag), "delete the tag")
	default:
		return true
	}
	return false
}

func kindName(k yaml.Kind) string {
	switch k {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	default:
		return "a single value"
	}
}

// resolved follows an alias to what it stands for.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
