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

// detail is how much of a file action is decoded.
type detail int

const (
	full      detail = iota
	countable        // without stats and tags
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
		p.object(func(name []byte) {
			key := string(name)
			c.Info.set(key, slices.Clone(p.skip()))
		})
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

func (p *parser) add(a *Add) {
	var s seen
	p.object(func(name []byte) {
		if p.null() {
			return
		}
		switch string(name) {
		case "path":
			a.Path, s = p.path(), s|1
		case "partitionValues":
			a.PartitionValues, s = p.partitionValues(), s|2
		case "size":
			a.Size, s = p.int(64), s|4
		case "modificationTime":
			a.ModificationTime, s = p.int(64), s|8
		case "dataChange":
			a.DataChange, s = p.bool(), s|16
		case "stats":
			a.Stats = p.textUnlessCounting()
		case "tags":
			a.Tags = p.tags()
		case "deletionVector":
			a.DeletionVector = p.deletionVector()
		case "baseRowId":
			a.BaseRowID = p.intPointer()
		case "defaultRowCommitVersion":
			a.DefaultRowCommitVersion = p.intPointer()
		case "clusteringProvider":
			a.ClusteringProvider = p.string()
		default:
			p.skip()
		}
	})
	p.require(s, "add", "path", "partitionValues", "size", "modificationTime", "dataChange")
}

func (p *parser) remove(r *Remove) {
	var s seen
	p.object(func(name []byte) {
		if p.null() {
			return
		}
		switch string(name) {
		case "path":
			r.Path, s = p.path(), s|1
		case "deletionTimestamp":
			r.DeletionTimestamp = p.int(64)
		case "dataChange":
			r.DataChange = p.bool()
		case "extendedFileMetadata":
			r.ExtendedFileMetadata = p.bool()
		case "partitionValues":
			r.PartitionValues = p.partitionValues()
		case "size":
			r.Size = p.intPointer()
		case "stats":
			r.Stats = p.textUnlessCounting()
		case "tags":
			r.Tags = p.tags()
		case "deletionVector":
			r.DeletionVector = p.deletionVector()
		case "baseRowId":
			r.BaseRowID = p.intPointer()
		case "defaultRowCommitVersion":
			r.DefaultRowCommitVersion = p.intPointer()
		default:
			p.skip()
		}
	})
	p.require(s, "remove", "path")
}

func (p *parser) deletionVector() *DeletionVector {
	var (
		d DeletionVector
		s seen
	)
	p.object(func(name []byte) {
		if p.null() {
			return
		}
		switch string(name) {
		case "storageType":
			d.StorageType, s = p.string(), s|1
		case "pathOrInlineDv":
			d.PathOrInlineDv, s = p.string(), s|2
		case "offset":
			n := int32(p.int(32))
			d.Offset = &n
		case "sizeInBytes":
			d.SizeInBytes, s = int32(p.int(32)), s|4
		case "cardinality":
			d.Cardinality, s = p.int(64), s|8
		default:
			p.skip()
		}
	})
	p.require(s, "deletionVector", "storageType", "pathOrInlineDv", "sizeInBytes", "cardinality")
	return &d
}

func (p *parser) cdc() CDC {
	var (
		f CDC
		s seen
	)
	p.object(func(name []byte) {
		if p.null() {
			return
		}
		switch string(name) {
		case "path":
			f.Path, s = p.path(), s|1
		case "partitionValues":
			f.PartitionValues = p.partitionValues()
		case "size":
			f.Size = p.int(64)
		case "dataChange":
			f.DataChange = p.bool()
		case "tags":
			f.Tags = p.tags()
		default:
			p.skip()
		}
	})
	p.require(s, "cdc", "path")
	return f
}

func (p *parser) txn() {
	var (
		t Txn
		s seen
	)
	p.object(func(name []byte) {
		if p.null() {
			return
		}
		switch string(name) {
		case "appId":
			t.AppID, s = p.string(), s|1
		case "version":
			t.Version, s = p.int(64), s|2
		case "lastUpdated":
			t.LastUpdated = p.int(64)
		default:
			p.skip()
		}
	})
	p.require(s, "txn", "appId", "version")
	if _, twice := p.commit.Txn(t.AppID); twice {
		p.failf("a second txn of %q in one commit", t.AppID)
	}
	p.commit.Txns = append(p.commit.Txns, t)
}

func (p *parser) domain() DomainMetadata {
	var (
		d DomainMetadata
		s seen
	)
	p.object(func(name []byte) {
		if p.null() {
			return
		}
		switch string(name) {
		case "domain":
			d.Domain, s = p.string(), s|1
		case "configuration":
			d.Configuration, s = p.string(), s|2
		case "removed":
			d.Removed, s = p.bool(), s|4
		default:
			p.skip()
		}
	})
	p.require(s, "domainMetadata", "domain", "configuration", "removed")
	return d
}

func (p *parser) protocol() *Protocol {
	var (
		v Protocol
		s seen
	)
	p.object(func(name []byte) {
		if p.null() {
			return
		}
		switch string(name) {
		case "minReaderVersion":
			v.MinReaderVersion, s = int(p.int(32)), s|1
		case "minWriterVersion":
			v.MinWriterVersion, s = int(p.int(32)), s|2
		case "readerFeatures":
			v.ReaderFeatures = p.strings()
		case "writerFeatures":
			v.WriterFeatures = p.strings()
		default:
			p.skip()
		}
	})
	p.require(s, "protocol", "minReaderVersion", "minWriterVersion")
	return &v
}

func (p *parser) metadata() *Metadata {
	var (
		m Metadata
		s seen
	)
	p.object(func(name []byte) {
		if p.null() {
			return
		}
		switch string(name) {
		case "id":
			m.ID, s = p.string(), s|1
		case "name":
			m.Name = p.string()
		case "description":
			m.Description = p.string()
		case "format":
			m.Format, s = p.format(), s|2
		case "schemaString":
			m.SchemaString, s = p.string(), s|4
		case "partitionColumns":
			m.PartitionColumns, s = p.strings(), s|8
		case "configuration":
			m.Configuration, s = p.stringMap(), s|16
		case "createdTime":
			m.CreatedTime = p.int(64)
		default:
			p.skip()
		}
	})
	p.require(s, "metaData", "id", "format", "schemaString", "partitionColumns", "configuration")
	return &m
}

func (p *parser) format() Format {
	var (
		f Format
		s seen
	)
	f.Options = map[string]string{}
	p.object(func(name []byte) {
		if p.null() {
			return
		}
		switch string(name) {
		case "provider":
			f.Provider, s = p.string(), s|1
		case "options":
			f.Options = p.stringMap()
		default:
			p.skip()
		}
	})
	p.require(s, "metaData.format", "provider")
	return f
}
