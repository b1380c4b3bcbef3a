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
	full      detail = iota
	countable        // what a head needs: no stats, no tags, of commitInfo only times and what belongs to a batch
)

func parse(version int64, body []byte, d detail) (*Commit, error) {
	p := &parser{cursor: cursor{b: body}, detail: d, commit: &Commit{Version: version}}
	switch {
	case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
		p.failf("it begins with a byte order mark")
	case !utf8.Valid(body):
		p.failf("it is not valid UTF-8")
	}
	for p.peek() != 0 {
		p.object(p.action)
	}
	if p.err == nil && p.i < len(p.b) {
		p.failf("a zero byte where an action should be")
	}
	if p.err != nil {
		return nil, &CorruptError{Version: version, Reason: p.err.Error()}
	}
	return p.commit, nil
}

// parser decodes the actions of one commit.
type parser struct {
	cursor
	detail detail
	commit *Commit
}

func (p *parser) action(name []byte) {
	if p.null() {
		return
	}
	c := p.commit
	switch string(name) {
	case "add":
		c.Adds = append(c.Adds, Add{})
		p.add(&c.Adds[len(c.Adds)-1])
	case "remove":
		c.Removes = append(c.Removes, Remove{DataChange: true})
		p.remove(&c.Removes[len(c.Removes)-1])
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
	case "cdc":
		c.CDCs = append(c.CDCs, p.cdc())
	default:
		p.skip()
	}
}

// info takes a member of commitInfo.
func (p *parser) info(name []byte) {
	key := string(name)
	if p.detail == countable && key != "userMetadata" && key != "txnId" && key != "timestamp" && key != "inCommitTimestamp" {
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
