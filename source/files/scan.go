package files

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/sluicedata/sluice/storage"
)

// maxQueue is the number of waiting files that one listing remembers, and the most that a batch has.
const maxQueue = 100_000

// candidate is a waiting file.
type candidate struct {
	key string
	version
}

func older(a, b candidate) int {
	return cmp.Or(cmp.Compare(a.modified, b.modified), cmp.Compare(a.key, b.key))
}

// backlog is what a listing found that is not seen, and why some of it does not wait.
type backlog struct {
	matched      int64 // all files that the pattern stands for
	files, bytes int64 // unseen and not empty

	young       int64
	future      int64 // of these, the number that carry a time that is yet to come
	firstFuture string
	empty       int64
	temporary   int64

	overwritten      int64 // seen, changed since, and to be ignored
	firstOverwritten string
}

func (b *backlog) advance(v version) {
	if b != nil {
		b.files, b.bytes = b.files-1, b.bytes-v.size
	}
}

// scanner sorts what a listing shows. It changes nothing in the source.
type scanner struct {
	source   *Source
	now      time.Time
	prefix   string
	hasher   hasher
	backlog  backlog
	waiting  []candidate
	overflow bool
}

// scan lists the folder.
func (s *Source) scan(ctx context.Context) (*scanner, error) {
	sc := &scanner{source: s, now: s.now(), prefix: s.names.prefix()}
	err := s.store.List(ctx, s.glob.prefix, s.after, sc.consider)
	if err != nil && err != errEnough {
		return nil, fmt.Errorf("list %s: %w", s.names.partition(s.glob.pattern), err)
	}
	if !s.isLexical() {
		sc.shorten(maxQueue)
	}
	return sc, nil
}

func (sc *scanner) consider(info storage.Info) error {
	if !sc.source.glob.Match(info.Key) {
		return nil
	}
	sc.backlog.matched++
	if temporary(info.Key) {
		sc.backlog.temporary++
		return nil
	}
	if !utf8.ValidString(info.Key) {
		return fmt.Errorf("the name %q is not valid UTF-8, so that no plan can name the file: rename it", info.Key)
	}
	is := versionOf(info)
	if was, seen := sc.source.seen.get(sc.hasher.sum(sc.prefix, info.Key)); seen {
		if was == is.identity() {
			return nil
		}
		if again, err := sc.overwritten(info.Key, was, is); !again || err != nil {
			return err
		}
	}
	if is.size == 0 {
		sc.backlog.empty++
		return nil
	}
	sc.backlog.files++
	sc.backlog.bytes += is.size
	young, lexical := sc.young(info), sc.source.isLexical()
	switch {
	case young && lexical:
		return errEnough
	case young:
		return nil
	case lexical && len(sc.waiting) == maxQueue:
		sc.overflow = true
		return errEnough
	}
	sc.waiting = append(sc.waiting, candidate{key: info.Key, version: is})
	if !lexical && len(sc.waiting) >= 2*maxQueue {
		sc.shorten(maxQueue)
	}
	return nil
}

// overwritten tells whether a seen file that has changed is to be read again.
func (sc *scanner) overwritten(key string, was identity, is version) (bool, error) {
	switch sc.source.overwritten {
	case OverwrittenReprocess:
		return true, nil
	case OverwrittenIgnore:
		if sc.backlog.overwritten++; sc.backlog.firstOverwritten == "" {
			sc.backlog.firstOverwritten = sc.prefix + key
		}
		return false, nil
	default:
		return false, fmt.Errorf("%s was read with %s, and has been overwritten: it has %v; say in the pipeline file what to do "+
			"with overwritten files: error (stop, as now), ignore (keep the rows that were read), or reprocess (read it again, "+
			"besides the rows that were read)", sc.prefix+key, was.describe(is), is)
	}
}

func (sc *scanner) young(info storage.Info) bool {
	settle := sc.source.settle
	age := sc.now.Sub(info.Modified)
	if settle == 0 || age >= settle {
		return false
	}
	sc.backlog.young++
	if age < 0 {
		if sc.backlog.future++; sc.backlog.firstFuture == "" {
			sc.backlog.firstFuture = fmt.Sprintf("%s at %s", sc.prefix+info.Key, info.Modified.UTC().Format(time.RFC3339))
		}
	}
	return true
}

// shorten keeps the n oldest.
func (sc *scanner) shorten(n int) {
	slices.SortFunc(sc.waiting, older)
	if len(sc.waiting) > n {
		sc.waiting, sc.overflow = sc.waiting[:n], true
	}
}

// notices are about what a user would want to know although nothing failed.
func (sc *scanner) notices() []string {
	var all []string
	b := &sc.backlog
	if b.matched == 0 && sc.source.seen.len() == 0 && sc.source.after == "" {
		all = append(all, fmt.Sprintf("no file matches %s in %s", sc.prefix+sc.source.glob.pattern, sc.source.store.URL()))
	}
	if b.overwritten > 0 {
		all = append(all, fmt.Sprintf("%d files that were overwritten after they were read are ignored (overwritten: ignore), such as %s",
			b.overwritten, b.firstOverwritten))
	}
	if b.future > 0 {
		all = append(all, fmt.Sprintf("%d files carry a modification time in the future and are left alone until then, such as %s",
			b.future, b.firstFuture))
	}
	return all
}
