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
func ParseCommit(version int64, body []byte) (*Commit, error) { return parse(version, body, full) }

// detail is how much of a commit is decoded.
type detail int

const (
	full    detail = iota
	summary        // what a head needs: no files, of commitInfo only times and what belongs to a batch
)

func parse(version int64, body []byte, d detail) (*Commit, error) {
	p := newParser(version, body, d)
	if err := p.parse(); err != nil {
		return nil, err
	}
	return p.commit, nil
}

// parser decodes the actions of one commit, or of a log checkpoint in JSON.
type parser struct {
	cursor
	detail   detail
	commit   *Commit
	sidecars []string // names; of a checkpoint
}

func newParser(version int64, body []byte, d detail) *parser {
	return &parser{cursor: cursor{b: body}, detail: d, commit: &Commit{Version: version}}
}

func (p *parser) parse() *CorruptError {
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
	if p.err != nil {
		return &CorruptError{Version: p.commit.Version, Reason: p.err.Error()}
	}
	return nil
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
	c := p.commit
	switch {
	case p.detail == summary:
		p.skip()
	case string(action) == "add":
		c.Adds = append(c.Adds, Add{})
		p.add(&c.Adds[len(c.Adds)-1])
	case string(action) == "remove":
		c.Removes = append(c.Removes, Remove{DataChange: true})
		p.remove(&c.Removes[len(c.Removes)-1])
	default:
		c.CDCs = append(c.CDCs, p.cdc())
	}
}

// info takes a member of commitInfo.
func (p *parser) info(name []byte) {
	key := string(name)
	if p.detail == summary && key != "userMetadata" && key != "txnId" && key != "timestamp" && key != "inCommitTimestamp" {
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
