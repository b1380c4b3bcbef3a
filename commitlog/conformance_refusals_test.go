package commitlog

// refusals are the tables written by others that are not read, and what the error says. All others are read.
var refusals = map[string]string{
	"delta-kernel-defaults/catalog-owned-preview":                                     "reading it needs catalogManaged",
	"kernel-rs-data/crc-malformed":                                                    "no Delta table there",
	"kernel-rs-data/table-with-geo":                                                   "reading it needs geospatial",
	"kernel-rs-golden/data-reader-absolute-paths-escaped-chars":                       "00000000000000000000.json: it has no metaData action",
	"kernel-rs-golden/deltalog-commit-info":                                           "00000000000000000000.json: line 1: metaData without schemaString",
	"kernel-rs-golden/deltalog-invalid-protocol-version":                              "reading it needs reader version 99",
	"kernel-rs-golden/deltalog-state-reconstruction-from-checkpoint-missing-metadata": "00000000000000000000.json: line 3: metaData without schemaString",
	"kernel-rs-golden/deltalog-state-reconstruction-from-checkpoint-missing-protocol": "00000000000000000000.json: line 3: metaData without schemaString",
	"kernel-rs-golden/deltalog-state-reconstruction-without-metadata":                 "00000000000000000000.json: it has no metaData action",
	"kernel-rs-golden/deltalog-state-reconstruction-without-protocol":                 "00000000000000000000.json: it has no protocol action",
	"kernel-rs-golden/update-deleted-directory":                                       "00000000000000000000.json: line 3: metaData without schemaString",
	"kernel-rs-golden/versions-not-contiguous":                                        "00000000000000000001.json: it is missing, though version 2 is there",
}
