package commitlog

import (
	"errors"
	"fmt"
	"slices"
)

// groupStats goes through the statistics of a row group's adds, which are a JSON text, a struct, or both. Not more of a form is read than is asked for.
type groupStats struct {
	path  *leaf
	row   int         // the next one
	forms []statsForm // each is asked for what those before it do not tell
}

// statsForm is one form of statistics, row by row.
type statsForm struct {
	name string
	row  int // the next one
	next func(skip bool) ([]byte, error)
}

// stats begins in front of the row group's adds. Lean statistics need tell no more than numRecords, which is read sooner of a struct than of a text.
func (g *rowGroup) stats(lean bool) *groupStats {
	s := &groupStats{path: g.leaf("add", "path")}
	if text := g.leaf("add", "stats"); text != nil {
		s.forms = append(s.forms, statsForm{name: "stats", next: func(bool) ([]byte, error) {
			v, told, err := text.next()
			if !told {
				return nil, err
			}
			return v.ByteArray(), err
		}})
	}
	if parsed := g.parsedStats(lean); parsed != nil {
		s.forms = append(s.forms, statsForm{name: "stats_parsed", next: parsed.next})
	}
	if lean {
		slices.Reverse(s.forms)
	}
	return s
}

// next is the next file's path and text; the text is nil when it has none. Both are valid until the call after.
func (s *groupStats) next() (path, text []byte, err error) {
	for {
		p, there, err := s.path.next()
		switch {
		case errors.Is(err, errShort):
			return nil, nil, errReplaced // there were more when it was opened
		case err != nil:
			return nil, nil, fmt.Errorf("path: %w", err)
		}
		s.row++
		if there {
			text, err := s.at(s.row - 1)
			return p.ByteArray(), text, err
		}
	}
}

func (s *groupStats) at(row int) ([]byte, error) {
	for i := range s.forms {
		text, err := s.forms[i].at(row)
		if text != nil || err != nil {
			return text, err
		}
	}
	return nil, nil
}

// at is the text of a row behind those of the calls before, nil for none.
func (f *statsForm) at(row int) (text []byte, err error) {
	for ; f.row <= row && err == nil; f.row++ {
		text, err = f.next(f.row < row)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	return text, nil
}
