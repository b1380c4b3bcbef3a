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

// version is one content of a path.
type version struct {
	size     int64  // bytes
	modified int64  // ns since the epoch
	etag     string // empty where the landing store has none
}

func versionOf(info storage.Info) version {
	return version{size: info.Size, modified: info.Modified.UnixNano(), etag: info.ETag}
}

func (v version) String() string {
	text := fmt.Sprintf("%d bytes, modified %s", v.size, v.time().Format(time.RFC3339Nano))
	if v.etag != "" {
		text += ", etag " + v.etag
	}
	return text
}

func (v version) time() time.Time { return time.Unix(0, v.modified).UTC() }

// asRange is the file in a plan. Its id is the modification time, and behind a slash the etag if there is one.
func (v version) asRange(partition string) offsetlog.Range {
	id := strconv.FormatInt(v.modified, 10)
	if v.etag != "" {
		id += "/" + v.etag
	}
	return offsetlog.Range{Partition: partition, ID: id, To: v.size}
}

// versionIn reads what a plan says of a file, in whichever order it was made.
func versionIn(r offsetlog.Range) (version, error) {
	text, etag, _ := strings.Cut(strings.TrimPrefix(r.ID, lexicalMark), "/")
	modified, err := strconv.ParseInt(text, 10, 64)
	if err != nil || r.From != 0 || r.To <= 0 {
		return version{}, fmt.Errorf("range %s with id %q is not a whole file of this source: "+
			"the plan is of another source; give this pipeline a name and a checkpoint of its own", r, r.ID)
	}
	return version{size: r.To, modified: modified, etag: etag}, nil
}

// identity tells one version of a path from another, in 16 bytes.
type identity struct {
	size  int64 // bytes
	stamp int64 // modification time, ns since the epoch; of a version with an etag the first 8 bytes of its SHA-256
}

// identity is by the etag where there is one: an object that was written again with the same content is no other.
func (v version) identity() identity {
	if v.etag == "" {
		return identity{size: v.size, stamp: v.modified}
	}
	sum := sha256.Sum256([]byte(v.etag))
	return identity{size: v.size, stamp: int64(binary.BigEndian.Uint64(sum[:8]))}
}

// describe tells the identity of a file that is of version is by now.
func (id identity) describe(is version) string {
	if is.etag != "" {
		return fmt.Sprintf("%d bytes and another etag", id.size)
	}
	return version{size: id.size, modified: id.stamp}.String()
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
		v, err := versionIn(r)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{path: h.sum(r.Partition), identity: v.identity()})
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
