package commitlog

import "errors"

// What a log checkpoint's rows say, held to the same required members as the lines of a commit.

func (a actionRow) protocol() (Protocol, error) {
	reader, ok1 := a.int("minReaderVersion")
	writer, ok2 := a.int("minWriterVersion")
	if !ok1 || !ok2 {
		return Protocol{}, errors.New("without minReaderVersion or minWriterVersion")
	}
	return Protocol{
		MinReaderVersion: int(reader), MinWriterVersion: int(writer),
		ReaderFeatures: a.list("readerFeatures"), WriterFeatures: a.list("writerFeatures"),
	}, nil
}

func (a actionRow) metadata() (Metadata, error) {
	m := Metadata{PartitionColumns: a.list("partitionColumns"), Configuration: a.texts("configuration")}
	var id, provider, schema bool
	m.ID, id = a.text("id")
	m.Format.Provider, provider = a.text("format.provider")
	m.SchemaString, schema = a.text("schemaString")
	switch {
	case !id:
		return m, errors.New("without id")
	case !provider:
		return m, errors.New("without format.provider")
	case !schema:
		return m, errors.New("without schemaString")
	case m.PartitionColumns == nil:
		return m, errors.New("without partitionColumns")
	case m.Configuration == nil:
		return m, errors.New("without configuration")
	}
	m.Name, _ = a.text("name")
	m.Description, _ = a.text("description")
	m.Format.Options = a.texts("format", "options")
	m.CreatedTime, _ = a.int("createdTime")
	return m, nil
}

func (a actionRow) txn() (Txn, error) {
	app, ok1 := a.text("appId")
	version, ok2 := a.int("version")
	if !ok1 || !ok2 {
		return Txn{}, errors.New("without appId or version")
	}
	updated, _ := a.int("lastUpdated")
	return Txn{AppID: app, Version: version, LastUpdated: updated}, nil
}

func (a actionRow) domain() (DomainMetadata, error) {
	name, ok1 := a.text("domain")
	configuration, ok2 := a.text("configuration")
	if !ok1 || !ok2 {
		return DomainMetadata{}, errors.New("without domain or configuration")
	}
	removed, _ := a.bool("removed")
	return DomainMetadata{Domain: name, Configuration: configuration, Removed: removed}, nil
}
