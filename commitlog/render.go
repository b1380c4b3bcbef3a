package commitlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Render writes the commit file's bytes: one action a line, each line with its newline, commitInfo first. It refuses
// what readers take in different ways: two actions of a commit that reconcile with each other, and text that is not
// UTF-8.
func (c *Commit) Render() ([]byte, error) {
	if err := c.checkReconciles(); err != nil {
		return nil, err
	}
	var w renderer
	if c.Info != nil {
		w.line("commitInfo", c.Info)
	}
	if c.Protocol != nil {
		w.line("protocol", c.Protocol)
	}
	if c.Metadata != nil {
		w.line("metaData", c.Metadata.complete())
	}
	for i := range c.Txns {
		w.line("txn", &c.Txns[i])
	}
	for i := range c.Domains {
		w.line("domainMetadata", &c.Domains[i])
	}
	for i := range c.Removes {
		w.line("remove", &c.Removes[i])
	}
	for _, a := range c.Adds {
		a.PartitionValues = orEmpty(a.PartitionValues)
		w.line("add", &a)
	}
	for _, f := range c.CDCs {
		f.PartitionValues = orEmpty(f.PartitionValues)
		w.line("cdc", &f)
	}
	return w.out.Bytes(), w.err
}

// complete is the metadata with its required maps and lists there, if empty.
func (m Metadata) complete() Metadata {
	m.Format.Options = orEmpty(m.Format.Options)
	m.Configuration = orEmpty(m.Configuration)
	if m.PartitionColumns == nil {
		m.PartitionColumns = []string{}
	}
	return m
}

func orEmpty[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return m
}

type renderer struct {
	out bytes.Buffer
	err error
}

func (w *renderer) line(action string, v any) {
	if w.err != nil {
		return
	}
	b, err := marshal(v)
	if err != nil {
		w.err = fmt.Errorf("render %s: %w", action, err)
		return
	}
	w.out.WriteString(`{"`)
	w.out.WriteString(action)
	w.out.WriteString(`":`)
	w.out.Write(b)
	w.out.WriteString("}\n")
}

// marshal is json.Marshal without escapes for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

// checkReconciles refuses a commit in which one action would replace another.
func (c *Commit) checkReconciles() error {
	apps := make(map[string]bool, len(c.Txns))
	for _, t := range c.Txns {
		if apps[t.AppID] {
			return fmt.Errorf("render commit: two txn actions of %q", t.AppID)
		}
		apps[t.AppID] = true
	}
	domains := make(map[string]bool, len(c.Domains))
	for _, d := range c.Domains {
		if domains[d.Domain] {
			return fmt.Errorf("render commit: two domainMetadata actions of %q", d.Domain)
		}
		domains[d.Domain] = true
	}
	removed := make(map[string]string, len(c.Removes))
	for i := range c.Removes {
		k := c.Removes[i].Key()
		if _, twice := removed[k.Path]; twice {
			return fmt.Errorf("render commit: two remove actions of %q", k.Path)
		}
		removed[k.Path] = k.DV
		if err := checkPath(c.Removes[i].Path); err != nil {
			return err
		}
	}
	added := make(map[string]bool, len(c.Adds))
	for i := range c.Adds {
		k := c.Adds[i].Key()
		if added[k.Path] {
			return fmt.Errorf("render commit: two add actions of %q", k.Path)
		}
		added[k.Path] = true
		if dv, both := removed[k.Path]; both && dv == k.DV {
			return fmt.Errorf("render commit: add and remove of %q", k.Path)
		}
		if err := checkPath(c.Adds[i].Path); err != nil {
			return err
		}
	}
	return nil
}

func checkPath(path string) error {
	if path == "" || !utf8.ValidString(path) {
		return fmt.Errorf("render commit: %q is not a path", path)
	}
	return nil
}
