package commitlog

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// ParseCommit reads a commit file: JSON objects, one after the other, each with one action by its name. It is strict
// where PROTOCOL.md requires a member and lenient otherwise: unknown actions and members, nulls for absent options, blank
// lines, CRLF, no newline at the end, several actions in a line or a line break inside one, and no action at all are
// fine. An error is a *CorruptError.
func ParseCommit(version int64, body []byte) (*Commit, error) {
	var p parser
	if err := p.parse(version, body, full); err != nil {
		return nil, err
	}
	return p.commit, nil
}

// detail is how much of a commit is decoded.
type detail int

const (
	full    detail = iota
	summary        // what a head needs: no files, of commitInfo only times and what belongs to a batch
	replay         // what a state needs: a summary, and adds and removes as they lie in the commit
)

// parser decodes the actions of one commit, or of a log checkpoint in JSON. It can be used again, with the memory that it
// has; then what it held of the commit before is gone, but for what is in its Commit.
type parser struct {
	cursor
	detail   detail
	commit   *Commit
	adds     []fileAction // not of a summary
	removes  []fileAction // not of a summary
	tuples   []byte       // partition values of these, one behind the other
	sidecars []string     // names; of a checkpoint
}

// parse returns nil or a *CorruptError. The body is kept, and is not to be changed.
func (p *parser) parse(version int64, body []byte, d detail) error {
	clear(p.adds)
	clear(p.removes)
	*p = parser{
		cursor: cursor{b: body, unescaped: p.unescaped[:0]}, detail: d, commit: &Commit{Version: version},
		adds: p.adds[:0], removes: p.removes[:0], tuples: append(p.tuples[:0], 0)[:0], // never nil
	}
	p.actions()
	if p.err != nil {
		return &CorruptError{Version: version, Reason: p.err.Error()}
	}
	if d == full {
		p.commit.Adds, p.commit.Removes = copies(p.adds, (*fileAction).add), copies(p.removes, (*fileAction).remove)
	}
	return nil
}

// copies is what is made of each, nil of none.
func copies[T any](actions []fileAction, copied func(*fileAction) T) (list []T) {
	for i := range actions {
		if list == nil {
			list = make([]T, 0, len(actions))
		}
		list = append(list, copied(&actions[i]))
	}
	return list
}

func (p *parser) actions() {
	switch {
	case bytes.HasPrefix(p.b, []byte("\xef\xbb\xbf")):
		p.failf("it begins with a byte order mark")
	case !utf8.Valid(p.b):
		p.failf("it is not valid UTF-8")
	}
	for p.peek() != 0 {
		p.object(p.action)
	}
	if p.err == nil && p.i < len(p.b) {
		p.failf("a zero byte where an action should be")
	}
}

func (p *parser) action(name []byte) {
	if p.null() {
		return
	}
	c := p.commit
	switch string(name) {
	case "add", "remove", "cdc":
		p.file(name)
	case "txn":
		p.txn()
	case "commitInfo":
		c.Info = &CommitInfo{}
		p.object(p.info)
	case "protocol":
		if c.Protocol != nil {
			p.failf("a second protocol in one commit")
		}
		c.Protocol = p.protocol()
	case "metaData":
		if c.Metadata != nil {
			p.failf("a second metaData in one commit")
		}
		c.Metadata = p.metadata()
	case "domainMetadata":
		c.Domains = append(c.Domains, p.domain())
	case "sidecar":
		p.sidecar()
	default:
		p.skip()
	}
}

// file takes an action that is about a file.
func (p *parser) file(action []byte) {
	switch {
	case p.detail == summary:
		p.skip()
	case string(action) == "add":
		p.add()
	case string(action) == "remove":
		p.remove()
	default:
		p.commit.CDCs = append(p.commit.CDCs, p.cdc())
	}
}

// info takes a member of commitInfo.
func (p *parser) info(name []byte) {
	key := string(name)
	if p.detail != full && key != "userMetadata" && key != "txnId" && key != "timestamp" && key != "inCommitTimestamp" {
		p.skip()
		return
	}
	if raw := p.skip(); p.err == nil {
		p.commit.Info.set(key, slices.Clone(raw))
	}
}

// seen is a set of required members.
type seen uint

func (s seen) has(i int) bool { return s&(1<<i) != 0 }

// require fails for the first of an action's required members that was not there.
func (p *parser) require(s seen, action string, names ...string) {
	for i, name := range names {
		if !s.has(i) {
			p.failf("%s without %s", action, name)
			return
		}
	}
}
