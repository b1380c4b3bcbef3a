package json

import "github.com/sluicedata/sluice/format"

// maxUnknownName bounds the bytes of a name that is counted, and remembered, by itself.
const maxUnknownName = 256

// unknownFields counts fields that no column takes.
type unknownFields struct {
	byPath map[string]*int64
	fields int      // remembered in all members, counted or not
	rest   *int64   // all further ones
	met    []*int64 // in the record being read, to be counted once that is known to be good
}

func newUnknownFields() unknownFields {
	return unknownFields{byPath: map[string]*int64{}, rest: new(int64)}
}

// field returns a field that is not among the members', and remembers it there within bounds.
func (u *unknownFields) field(m *members, name []byte) *field {
	if len(name) > maxUnknownName || u.fields >= format.MaxUnknown {
		if !m.uncount {
			m.rest.count = u.rest
		}
		return &m.rest
	}
	u.fields++
	f := &field{visit: unwanted}
	if !m.uncount {
		f.count = u.counter(fieldPath(m.place, string(name)))
	}
	m.byName[string(name)] = f
	return f
}

func (u *unknownFields) counter(path string) *int64 {
	if u.byPath[path] == nil {
		u.byPath[path] = new(int64)
	}
	return u.byPath[path]
}

// settle counts what was met in the last record, if that is good.
func (u *unknownFields) settle(good bool) {
	if good {
		for _, n := range u.met {
			*n++
		}
	}
	u.met = u.met[:0]
}

func (u *unknownFields) counts() map[string]int64 {
	counts := make(map[string]int64, len(u.byPath)+1)
	for path, n := range u.byPath {
		if *n > 0 { // it may have been met in bad records alone
			counts[path] = *n
		}
	}
	if *u.rest > 0 {
		counts[format.UnknownRest] = *u.rest
	}
	return counts
}
