package commitlog

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
