package commitlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// differences tells how a log checkpoint of the state's version differs from it. Applications whose record has expired may be
// left out there.
func (s *State) differences(checkpoint *State) []string {
	var problems []string
	add := func(differ bool, format string, args ...any) {
		if differ {
			problems = append(problems, fmt.Sprintf(format, args...)+", by the commits up to it")
		}
	}
	same, other, elsewhere := 0, 0, 0
	for _, a := range checkpoint.Files.adds() {
		row := s.Files.rowOf(a.Key())
		if row == nil || row.size != a.Size {
			other++
			continue
		}
		same++
		if !samePartition(parseTuple(s.Files.values(row)), a.PartitionValues) {
			elsewhere++
		}
	}
	add(other > 0, "%d of its files are not in the table, or have another size", other)
	add(same < s.Files.Len(), "it lacks %d files that are in the table, or has them with another size", s.Files.Len()-same)
	add(elsewhere > 0, "%d of its files have other partition values", elsewhere)
	p, q := s.Protocol, checkpoint.Protocol
	add(!p.Equal(q), "its protocol is another one")
	m, n := s.Metadata, checkpoint.Metadata
	add(m.ID != n.ID || compact(m.SchemaString) != compact(n.SchemaString) || !slices.Equal(m.PartitionColumns, n.PartitionColumns) || !maps.Equal(m.Configuration, n.Configuration),
		"its metadata is another one")
	_, expire := m.Configuration[propTxnRetention]
	for _, app := range slices.Sorted(maps.Keys(s.Apps)) {
		has, there := checkpoint.Apps[app]
		add(!there && !expire || there && has.Batch != s.Apps[app].Batch, "its txn of %q is not of version %d", app, s.Apps[app].Batch)
	}
	add(!maps.Equal(s.Domains, checkpoint.Domains), "its domain metadata is another one")
	return problems
}

// compact is a JSON text without white space between its parts.
func compact(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return b.String()
}

// samePartition says whether partition values mean the same: an empty text, and a column that is not named, are null
// ("Partition Value Serialization").
func samePartition(a, b map[string]*string) bool {
	text := func(v *string) string {
		if v == nil {
			return ""
		}
		return *v
	}
	for column := range a {
		if text(a[column]) != text(b[column]) {
			return false
		}
	}
	for column := range b {
		if text(a[column]) != text(b[column]) {
			return false
		}
	}
	return true
}

// rowOf is the row of a live file, nil if there is none. It works until the files are sealed.
func (f *Files) rowOf(k FileKey) *fileRow {
	if len(f.index.slots) == 0 {
		return nil
	}
	slot, _, same := f.find([]byte(k.Path), k.DV)
	if !same {
		return nil
	}
	if r := f.rows.at(f.index.row(slot)); !r.dead {
		return r
	}
	return nil
}
