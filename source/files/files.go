// Package files is the source of landing folders: each file beneath a folder is read once, whole.
//
// A listing is not a position. A plan therefore names every file of its batch by path, size, modification time and, where the store has one, etag; Read
// opens exactly these files and fails when one of them has changed or is gone. What has been planned is remembered as
// the set of seen files (path hash to size and stamp): in memory while the source lives, in the plans while
// they exist, and in the seen log once they are pruned. Words: a file is young before its settle time is over, waiting
// when it could be planned, seen when a recorded plan names it, overwritten when it is seen and its size or stamp is
// another one since. The stamp is the modification time or, where the store has an etag, a hash of that: then the same
// content written again is the same file.
//
// # What is a file of the source
//
// The pattern is matched against paths relative to the root; see ParseGlob. A folder means all files in it and in its
// subfolders. Left alone whatever the pattern says, as names that belong to files still being written:
//
//   - any element of the path that begins with "_" or "."
//   - any element that ends, in any case of letters, in one of ~ .tmp .temp .part .partial .crdownload .download
//     .filepart .inprogress .incomplete .pending .writing .uploading .swp ._copying_, also with .gz or .zst behind
//
// A file that is younger than the settle time, or empty, is left alone until it is neither. A file that was not moved
// into place in one step but is written where it lies is safe only as long as its writer never pauses for longer than
// the settle time. A file is another one when its path, as the pipeline file writes it, is another one.
//
// Names that end in .gz and .zst are decoded; all members and frames of a file count. Several files are read at once, and
// large ones of lines in several places; what they hold is emitted in order.
//
// # Order and limits
//
// Files are planned oldest first, by modification time, then path. A file is never split over batches. Bytes are those
// on storage. The number of records of a file is not known before it is read: it is estimated from the bytes per record
// of the files read so far (before the first one, 256 bytes a record, or 32 in a compressed file), so that the limit of
// records holds roughly. A batch has at least one file when one is waiting, and at most 100,000.
//
// One listing serves as many batches as it holds whole ones for; what it says is checked again, file by file, before it
// is planned.
//
// In lexical order files are planned by the bytes of their paths instead. The position is the last path planned, which the
// newest plan tells: a listing begins behind it and costs no more than what is new, there is no seen set and no seen log, and
// a file that appears before the position, or changes there, is never looked at. So that none is passed over, a listing ends
// at the first young file. Plans say in which order they were made, and a start in the other one is refused.
//
// # The seen log
//
// Objects ("segments") in the bookkeeping store, one for a run of batches, called
//
//	<epoch, 6 digits>-<first batch, 20 digits>-<batch after the last, 20 digits>[.<attempt>].seen
//
// All integers in them are big-endian, 8 bytes, unless said otherwise:
//
//	"SLSEEN01"               8 bytes, the format and its version
//	epoch, from, to, count   as in the name; count is the number of entries
//	entries                  count times: path hash (16 bytes), size, stamp
//	SHA-256                  32 bytes, of everything before
//
// A stamp is a modification time in ns since 1970, UTC, or the first 8 bytes of the SHA-256 of an etag, as it is in the
// plan. A path hash is the first half of the SHA-256 of the path as plans spell it. Entries ascend by hash; a path
// planned more than once has its latest identity. So a segment is a function of the plans of its batches: two processes
// that write the same one write the same bytes.
//
// Keep adds one segment for the batches whose plans are about to go, and merges it with those before it that are not
// larger than what follows them: a file is written O(log files) times, and there are O(log files) segments (beyond a
// million entries a segment is left as it is). One put makes the new segment real; those that it contains are deleted
// after it. What a crash leaves overlaps and does no harm: segments are applied in the order of their ends. A segment of
// which a crash left a part is ignored as long as the plans or other segments cover its batches, and an error
// otherwise; its name stays taken, and the next attempt has a number.
//
// Adoption (the table's own record replaces what the checkpoint knew) begins a new epoch with a segment that holds all
// of it. Only the highest epoch counts; lower ones stay aside, for who wants to go back by hand.
//
// Invariants: a path is looked up by 128 bits of a cryptographic hash, so that no two are ever confused; nothing but a
// durable segment that contains it makes a segment deletable; nothing is written to the landing folder.
package files

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sluicedata/sluice/format"
	"github.com/sluicedata/sluice/memory"
	"github.com/sluicedata/sluice/storage"
)

// Overwritten says what to do with a file that was read and has another size or modification time since.
type Overwritten string

const (
	// OverwrittenFail makes Next fail. The zero value means the same.
	OverwrittenFail Overwritten = "error"
	// OverwrittenIgnore leaves such files alone and counts them in a notice.
	OverwrittenIgnore Overwritten = "ignore"
	// OverwrittenReprocess plans them again, whole.
	OverwrittenReprocess Overwritten = "reprocess"
)

// Config is what a Source is made of.
type Config struct {
	// Store holds the landing folder. It and Bookkeeping stay the caller's to close.
	Store storage.Store
	// Pattern chooses among the paths relative to the store's root; see ParseGlob. Empty means all.
	Pattern string
	// DisplayRoot is the store's root as the pipeline file writes it. It begins the name of every file in plans, metadata
	// and messages; empty means that names are relative to the root.
	DisplayRoot string
	// Settle is how old a file must be, by its modification time, before it is planned.
	Settle time.Duration
	// Overwritten is OverwrittenFail when empty.
	Overwritten Overwritten
	// Order is OrderModified when empty. Overwritten has no meaning in OrderLexical.
	Order Order
	// Framer cuts files into records.
	Framer format.Framer
	// Bookkeeping holds the seen log: a folder of the checkpoint that nothing else writes to.
	Bookkeeping storage.Store
	// Memory is what is read ahead is counted in, and its share the bound of that; nil is one of 16 MB of the source's own.
	Memory *memory.Account
	// PieceBytes is of how many bytes the pieces are, at the least, in which a plain file of lines is read, side by side; 0: no
	// file is. Reading a piece takes a store whose objects are read in several places at once at no loss.
	PieceBytes int64
	// Now tells the time that Settle is measured by; time.Now when nil.
	Now func() time.Time
}

// ownMemory is that of a source which is given none, in bytes.
const ownMemory = 16 << 20

// Source reads a landing folder. It implements source.Source.
type Source struct {
	store       storage.Store
	glob        *Glob
	names       naming
	settle      time.Duration
	overwritten Overwritten
	order       Order
	now         func() time.Time

	reader     *reader
	rates      rates // learned from the files that were read
	pieceBytes int64
	memory     *memory.Account
	log        *seenLog

	queue    []candidate    // waiting files of the last listing, oldest first, without those advanced past
	overflow bool           // the last listing had more than the queue holds
	said     []string       // notices of the last listing
	unsaid   []string       // notices that the next plan carries
	broken   error          // what Advance could not return
	pending  []batchEntries // plans that are not in the seen log, by batch

	mu      sync.Mutex // guards what follows, for Lag
	seen    seenSet    // empty in lexical order
	after   string     // key behind which a listing begins; empty but in lexical order
	backlog *backlog   // nil before the first listing
	bounded bool       // Next leaves alone what came after Bound
}

// New checks the settings, all of them at once, and makes a source. It does no I/O.
func New(cfg Config) (*Source, error) {
	glob, err := cfg.check()
	if err != nil {
		return nil, err
	}
	now := cfg.Now
	if now == nil {
		now = time.Now
	}
	overwritten := cfg.Overwritten
	if overwritten == "" {
		overwritten = OverwrittenFail
	}
	account := cfg.Memory
	if account == nil {
		account = memory.New(ownMemory).Open("fetch", ownMemory)
	}
	return &Source{
		store:       cfg.Store,
		glob:        glob,
		names:       naming{root: cfg.DisplayRoot},
		settle:      cfg.Settle,
		overwritten: overwritten,
		order:       cfg.Order,
		now:         now,
		reader:      &reader{store: cfg.Store, framer: cfg.Framer, wayOut: planAnew},
		memory:      account,
		pieceBytes:  cfg.PieceBytes,
		log:         newSeenLog(cfg.Bookkeeping),
	}, nil
}

func (cfg Config) check() (*Glob, error) {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if cfg.Store == nil {
		fault("no store of the landing folder")
	}
	if cfg.Framer == nil {
		fault("no framer")
	}
	if cfg.Bookkeeping == nil {
		fault("no store for the seen log")
	}
	if cfg.Settle < 0 {
		fault("settle is %v; it must be 0 or more", cfg.Settle)
	}
	switch cfg.Overwritten {
	case "", OverwrittenFail, OverwrittenIgnore, OverwrittenReprocess:
	default:
		fault("overwritten is %q; write error, ignore or reprocess", cfg.Overwritten)
	}
	switch cfg.Order {
	case "", OrderModified, OrderLexical:
	default:
		fault("order is %q; write modified or lexical", cfg.Order)
	}
	glob, err := ParseGlob(cfg.Pattern)
	if err != nil {
		faults = append(faults, err)
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("files source: %w", errors.Join(faults...))
	}
	return glob, nil
}

// Close has nothing to end: what Read begins ends with it.
func (s *Source) Close() error { return nil }
