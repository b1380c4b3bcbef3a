package commitlog

import (
	"fmt"
	"strings"

	"github.com/sluicedata/sluice/storage"
)

// Place is where a file of a table's log lies.
type Place struct {
	Root string // URL of the store, of the same backend as the table's; empty: the table's own
	Key  string // there
}

// PlaceOf is where a path of the log leads, in the table with a URL. A path is a URI reference (RFC 2396), relative to the table
// or absolute ("Add File and Remove File", "Deletion Vector Descriptor Schema"). An absolute one without a scheme is of the
// table's own disk or bucket. A file in the table's folder is a file of the table's store, whatever its path.
//
// It is an *UnsupportedError where the path leads to another backend: a table in a bucket does not name files of the disk of
// whoever reads it.
func PlaceOf(table, path string) (Place, error) {
	root, rest, err := absolute(table, path)
	if err != nil {
		return Place{}, err
	}
	key, err := PathDecode(rest)
	if err != nil {
		return Place{}, err
	}
	if own, below := home(table); root == own {
		if inside, ok := strings.CutPrefix(key, below); ok {
			root, key = "", inside
		}
	}
	if err := storage.CheckKey(key); err != nil {
		return Place{}, fmt.Errorf("path %q: %w; have the engine that wrote it write the file anew", path, err)
	}
	return Place{root, key}, nil
}

const bucketScheme = "s3://"

// absolute splits a path, escapes and all, into the root of a disk or bucket and what is below; the root of a relative one is empty.
func absolute(table, path string) (root, rest string, err error) {
	scheme := schemeOf(path)
	if scheme == "" && !strings.HasPrefix(path, "/") {
		return "", path, nil
	}
	own, _ := home(table)
	if own == "/" {
		if rest, ok := strings.CutPrefix(CanonicalPath(path), "/"); ok {
			return own, rest, nil
		}
	} else if scheme == "" {
		return own, path[1:], nil
	} else if rest, ok := strings.CutPrefix(path[len(scheme):], "://"); ok && (scheme == "s3" || scheme == "s3a" || scheme == "s3n") {
		bucket, rest, _ := strings.Cut(rest, "/")
		return bucketScheme + bucket, rest, nil
	}
	return "", "", &UnsupportedError{Table: table, Features: []string{"files in another kind of store than its own"}, For: "reading", Detail: "file " + path}
}

// schemeOf is the scheme that a URI begins with, without its colon; empty without one.
func schemeOf(uri string) string {
	for i := range len(uri) {
		switch ch := uri[i]; {
		case 'a' <= ch && ch <= 'z', 'A' <= ch && ch <= 'Z':
		case i > 0 && ('0' <= ch && ch <= '9' || ch == '+' || ch == '-' || ch == '.'):
		case i > 0 && ch == ':':
			return uri[:i]
		default:
			return ""
		}
	}
	return ""
}

// home is the root of the disk or bucket that a table lies in, and what the keys in its folder begin with there. Where a folder
// lies that has no absolute path is not known, and no key begins so.
func home(table string) (root, below string) {
	if rest, ok := strings.CutPrefix(table, bucketScheme); ok {
		bucket, prefix, _ := strings.Cut(rest, "/")
		return bucketScheme + bucket, folder(prefix)
	}
	if rest, ok := strings.CutPrefix(CanonicalPath(table), "/"); ok {
		return "/", folder(rest)
	}
	return "/", "\x00"
}

// folder is what the keys of a folder begin with; those of the root begin with anything.
func folder(name string) string {
	if name = strings.TrimSuffix(name, "/"); name == "" {
		return ""
	}
	return name + "/"
}
