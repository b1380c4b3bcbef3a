package files

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluicedata/sluice/source"
)

// Lag counts files: Position is the number of seen ones, End that plus those not seen yet, as of the last listing. In lexical
// order nobody counts those that were read: Position is 0, and the note has the last of them. It
// lists the folder when nobody has so far. Safe for concurrent use.
func (s *Source) Lag(ctx context.Context) ([]source.Lag, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.backlog == nil {
		sc, err := s.scan(ctx)
		if err != nil {
			return nil, err
		}
		s.backlog = &sc.backlog
	}
	position := int64(s.seen.len())
	note := s.backlog.note(s.settle.String())
	if s.after != "" {
		note = strings.TrimPrefix(note+", read up to "+s.names.partition(s.after), ", ")
	}
	return []source.Lag{{
		Partition: s.names.partition(s.glob.pattern),
		Position:  position,
		End:       position + s.backlog.files,
		Note:      note,
	}}, nil
}

// note says how much waits, and what is left alone and why.
func (b *backlog) note(settle string) string {
	var parts []string
	say := func(n int64, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	say(b.bytes, "bytes to read")
	say(b.young, "files younger than "+settle)
	say(b.future, "files modified in the future")
	say(b.empty, "empty files")
	say(b.temporary, "files with temporary names")
	say(b.overwritten, "overwritten files ignored")
	return strings.Join(parts, ", ")
}
