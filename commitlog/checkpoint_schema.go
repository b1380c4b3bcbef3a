package commitlog

import (
	"github.com/parquet-go/parquet-go"

	"github.com/sluicedata/sluice/schema"
)

// checkpointNode is the Parquet schema of a log checkpoint: a row is one action, in the column of its name ("Checkpoint
// Schema"). All that can be null is optional, as Spark writes it. Spark reads no checkpoint without the columns of adds and removes,
// even where all of these are in sidecars. A V2 checkpoint has the columns of its own as well.
func (p *checkpointPlan) checkpointNode() parquet.Node {
	root := p.sidecarNode()
	root["protocol"] = members(parquet.Group{
		"minReaderVersion": intNode(schema.Integer), "minWriterVersion": intNode(schema.Integer),
		"readerFeatures": listNode(), "writerFeatures": listNode(),
	})
	root["metaData"] = members(parquet.Group{
		"id": textNode(), "name": textNode(), "description": textNode(), "schemaString": textNode(), "partitionColumns": listNode(),
		"configuration": mapNode(), "createdTime": intNode(schema.Long),
		"format": members(parquet.Group{"provider": textNode(), "options": mapNode()}),
	})
	root["txn"] = members(parquet.Group{"appId": textNode(), "version": intNode(schema.Long), "lastUpdated": intNode(schema.Long)})
	root["domainMetadata"] = members(parquet.Group{"domain": textNode(), "configuration": textNode(), "removed": leafNode(schema.Of(schema.Boolean))})
	if p.v2 {
		root["checkpointMetadata"] = members(parquet.Group{"version": intNode(schema.Long)})
		root["sidecar"] = members(parquet.Group{"path": textNode(), "sizeInBytes": intNode(schema.Long), "modificationTime": intNode(schema.Long)})
	}
	return root
}

// sidecarNode is the Parquet schema of a sidecar, which has adds and removes alone.
func (p *checkpointPlan) sidecarNode() parquet.Group {
	return parquet.Group{"add": p.addNode(), "remove": removeNode()}
}

func (p *checkpointPlan) addNode() parquet.Node {
	add := parquet.Group{
		"path": textNode(), "partitionValues": mapNode(), "size": intNode(schema.Long), "modificationTime": intNode(schema.Long),
		"dataChange": leafNode(schema.Of(schema.Boolean)), "tags": mapNode(), "deletionVector": vectorNode(), "baseRowId": intNode(schema.Long),
		"defaultRowCommitVersion": intNode(schema.Long), "clusteringProvider": textNode(),
	}
	if p.json {
		add["stats"] = textNode()
	}
	if p.parsed != nil {
		add["stats_parsed"] = p.parsed.node()
	}
	if len(p.partitions) > 0 {
		values := parquet.Group{}
		for _, f := range p.partitions {
			values[f.name] = leafNode(f.typ)
		}
		add["partitionValues_parsed"] = members(values)
	}
	return members(add)
}

func removeNode() parquet.Node {
	return members(parquet.Group{
		"path": textNode(), "deletionTimestamp": intNode(schema.Long), "dataChange": leafNode(schema.Of(schema.Boolean)),
		"extendedFileMetadata": leafNode(schema.Of(schema.Boolean)), "partitionValues": mapNode(), "size": intNode(schema.Long),
		"deletionVector": vectorNode(), "baseRowId": intNode(schema.Long), "defaultRowCommitVersion": intNode(schema.Long),
	})
}

func vectorNode() parquet.Node {
	return members(parquet.Group{
		"storageType": textNode(), "pathOrInlineDv": textNode(), "offset": intNode(schema.Integer), "sizeInBytes": intNode(schema.Integer),
		"cardinality": intNode(schema.Long),
	})
}

func members(g parquet.Group) parquet.Node { return parquet.Optional(g) }

func leafNode(t *schema.Type) parquet.Node {
	return parquet.Optional(parquet.Encoded(schema.ParquetLeaf(t), &parquet.Plain))
}

func intNode(k schema.Kind) parquet.Node { return leafNode(schema.Of(k)) }

func textNode() parquet.Node { return leafNode(schema.Of(schema.String)) }

// dictionaryText is for texts of which there are few different ones.
func dictionaryText() parquet.Node {
	return parquet.Encoded(schema.ParquetLeaf(schema.Of(schema.String)), &parquet.RLEDictionary)
}

func listNode() parquet.Node { return parquet.Optional(parquet.List(textNode())) }

func mapNode() parquet.Node {
	return parquet.Optional(parquet.Map(dictionaryText(), parquet.Optional(dictionaryText())))
}
