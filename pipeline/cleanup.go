package pipeline

import "github.com/sluicedata/sluice/batch"

// NeedsCommit tells whether a start of a pipeline needs the commit of its newest batch, of whose commitInfo the userMetadata is given:
// if it has that batch's record.
func NeedsCommit(app, userMetadata string) bool {
	record := batch.ParseRecord(userMetadata)
	return record != nil && record.App == app
}
