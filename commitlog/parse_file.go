package commitlog

// fileAction is an add or remove action as it lies in a commit. Its texts are parts of the parser's memory.
type fileAction struct {
	path       []byte
	values     []byte // partition values, see appendTupleValue; nil when they are missing
	size       int64  // bytes; noSize when missing
	time       int64  // ms since the epoch: modificationTime, or deletionTimestamp
	dataChange bool
	extended   bool // extendedFileMetadata
	stats      []byte
	tags       map[string]string
	vector     *DeletionVector
	base       *int64 // baseRowId
	since      *int64 // defaultRowCommitVersion
	clustering string
}

// noSize stands for a size that a remove does not have.
const noSize = -1

func (p *parser) add() {
	p.adds = append(p.adds, fileAction{})
	a := &p.adds[len(p.adds)-1]
	var s seen
	p.object(func(name []byte) {
		if p.null() {
			return
		}
		switch string(name) {
		case "path":
			a.path, s = p.path(), s|1
		case "partitionValues":
			a.values, s = p.partitionValues(), s|2
		case "size":
			a.size, s = p.int(64), s|4
		case "modificationTime":
			a.time, s = p.int(64), s|8
		case "dataChange":
			a.dataChange, s = p.bool(), s|16
		case "stats":
			a.stats = p.text()
		case "tags":
			a.tags = p.stringMap()
		case "deletionVector":
			a.vector = p.deletionVector()
		case "baseRowId":
			a.base = p.intPointer()
		case "defaultRowCommitVersion":
			a.since = p.intPointer()
		case "clusteringProvider":
			a.clustering = p.string()
		default:
			p.skip()
		}
	})
	p.require(s, "add", "path", "partitionValues", "size", "modificationTime", "dataChange")
}

func (p *parser) remove() {
	p.removes = append(p.removes, fileAction{dataChange: true, size: noSize})
	r := &p.removes[len(p.removes)-1]
	var s seen
	p.object(func(name []byte) {
		if p.null() {
			return
		}
		switch string(name) {
		case "path":
			r.path, s = p.path(), s|1
		case "deletionTimestamp":
			r.time = p.int(64)
		case "dataChange":
			r.dataChange = p.bool()
		case "extendedFileMetadata":
			r.extended = p.bool()
		case "partitionValues":
			r.values = p.partitionValues()
		case "size":
			r.size = p.int(64)
		case "stats":
			r.stats = p.text()
		case "tags":
			r.tags = p.stringMap()
		case "deletionVector":
			r.vector = p.deletionVector()
		case "baseRowId":
			r.base = p.intPointer()
		case "defaultRowCommitVersion":
			r.since = p.intPointer()
		default:
			p.skip()
		}
	})
	p.require(s, "remove", "path")
}

// add is a copy, as an add action.
func (a *fileAction) add() Add {
	return Add{
		Path: string(a.path), PartitionValues: parseTuple(a.values), Size: a.size, ModificationTime: a.time, DataChange: a.dataChange, Stats: string(a.stats),
		Tags: a.tags, DeletionVector: a.vector, BaseRowID: a.base, DefaultRowCommitVersion: a.since, ClusteringProvider: a.clustering,
	}
}

// remove is a copy, as a remove action.
func (a *fileAction) remove() Remove {
	r := Remove{
		Path: string(a.path), DeletionTimestamp: a.time, DataChange: a.dataChange, ExtendedFileMetadata: a.extended, PartitionValues: parseTuple(a.values),
		Stats: string(a.stats), Tags: a.tags, DeletionVector: a.vector, BaseRowID: a.base, DefaultRowCommitVersion: a.since,
	}
	if size := a.size; size != noSize {
		r.Size = &size
	}
	return r
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
			f.Path, s = string(p.path()), s|1
		case "partitionValues":
			f.PartitionValues = parseTuple(p.partitionValues())
		case "size":
			f.Size = p.int(64)
		case "dataChange":
			f.DataChange = p.bool()
		case "tags":
			f.Tags = p.stringMap()
		default:
			p.skip()
		}
	})
	p.require(s, "cdc", "path")
	return f
}

// sidecar takes the name of a file with more actions; only log checkpoints have such.
func (p *parser) sidecar() {
	p.object(func(name []byte) {
		if string(name) == "path" {
			p.sidecars = append(p.sidecars, string(p.path()))
		} else {
			p.skip()
		}
	})
}
