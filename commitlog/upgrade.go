package commitlog

import (
	"fmt"
	"slices"
)

// With returns the protocol that has these features as well: the same if it has them, else the lowest that has them by name
// ("Table Features for new and Existing Tables"). What legacy versions stand for is then listed. It refuses features that Sluice
// does not append to.
func (p Protocol) With(features ...string) (Protocol, error) {
	var missing []string
	readers := false
	for _, f := range features {
		s, known := supportOf(f)
		switch {
		case p.Supports(f) || slices.Contains(missing, f):
		case !known || !s.append:
			return p, fmt.Errorf("this version of Sluice does not write tables with the feature %s", f)
		default:
			missing = append(missing, f)
			readers = readers || s.readerWriter
		}
	}
	legacy := func(f string) bool { return f == featureAppendOnly || f == featureInvariants }
	switch {
	case len(missing) == 0:
		return p, nil
	case p.MinWriterVersion < 2 && !slices.ContainsFunc(missing, func(f string) bool { return !legacy(f) }):
		p.MinWriterVersion = 2
		return p, nil
	}
	upgraded := Protocol{MinReaderVersion: p.MinReaderVersion, MinWriterVersion: maxWriterVersion, WriterFeatures: slices.Clone(p.writes())}
	upgraded.WriterFeatures = append(upgraded.WriterFeatures, missing...)
	if readers || p.MinReaderVersion > 1 {
		upgraded.MinReaderVersion, upgraded.ReaderFeatures = maxReaderVersion, slices.Clone(p.reads())
		for _, f := range missing {
			if s, _ := supportOf(f); s.readerWriter {
				upgraded.ReaderFeatures = append(upgraded.ReaderFeatures, f)
			}
		}
	}
	return upgraded, nil
}
