package commitlog

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
			a.Stats = p.string()
		case "tags":
			a.Tags = p.stringMap()
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
			r.Stats = p.string()
		case "tags":
			r.Tags = p.stringMap()
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
			p.sidecars = append(p.sidecars, p.path())
		} else {
			p.skip()
		}
	})
}
