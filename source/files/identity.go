package files

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/storage"
)

// identity tells one content of a path from another.
type identity struct {
	size     int64 // bytes
	modified int64 // ns since the epoch
}

func identityOf(info storage.Info) identity {
	return identity{size: info.Size, modified: info.Modified.UnixNano()}
}

func (id identity) String() string {
	return fmt.Sprintf("%d bytes, modified %s", id.size, id.time().Format(time.RFC3339Nano))
}

func (id identity) time() time.Time { return time.Unix(0, id.modified).UTC() }

// asRange is the file in a plan.
func (id identity) asRange(partition string) offsetlog.Range {
	return offsetlog.Range{Partition: partition, ID: strconv.FormatInt(id.modified, 10), To: id.size}
}

// identityIn reads the identity that a plan gave to a file.
func identityIn(r offsetlog.Range) (identity, error) {
	modified, err := strconv.ParseInt(r.ID, 10, 64)
	if err != nil || r.From != 0 || r.To <= 0 {
		return identity{}, fmt.Errorf("range %s with id %q is not a whole file of this source: "+
			"the plan is of another source; give this pipeline a name and a checkpoint of its own", r, r.ID)
	}
	return identity{size: r.To, modified: modified}, nil
}

// pathHash stands for a path. Never zero.
type pathHash struct{ hi, lo uint64 }

func (h pathHash) less(o pathHash) bool { return h.hi < o.hi || h.hi == o.hi && h.lo < o.lo }

// hasher hashes paths without allocating. Not safe for concurrent use.
type hasher struct{ buf []byte }

func (h *hasher) sum(parts ...string) pathHash {
	h.buf = h.buf[:0]
	for _, p := range parts {
		h.buf = append(h.buf, p...)
	}
	sum := sha256.Sum256(h.buf)
	hash := pathHash{hi: binary.BigEndian.Uint64(sum[:8]), lo: binary.BigEndian.Uint64(sum[8:16])}
	if hash == (pathHash{}) {
		hash.lo = 1
	}
	return hash
}

// entry is a seen file.
type entry struct {
	path pathHash
	identity
}

func entriesOf(ranges []offsetlog.Range) ([]entry, error) {
	var h hasher
	entries := make([]entry, 0, len(ranges))
	for _, r := range ranges {
		id, err := identityIn(r)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{path: h.sum(r.Partition), identity: id})
	}
	return entries, nil
}

// naming turns keys of the landing store into the names that plans and people use, and back.
type naming struct{ root string }

// prefix is what every name has before the key.
func (n naming) prefix() string {
	switch {
	case n.root == "" || n.root == ".":
		return ""
	case strings.HasSuffix(n.root, "/"):
		return n.root
	default:
		return n.root + "/"
	}
}

func (n naming) partition(key string) string { return n.prefix() + key }

func (n naming) key(partition string) (string, error) {
	key, ok := strings.CutPrefix(partition, n.prefix())
	if !ok || key == "" {
		return "", fmt.Errorf("read %s: the file was planned under another path than %s: "+
			"set the source's path back until this batch is committed", partition, n.root)
	}
	return key, nil
}
