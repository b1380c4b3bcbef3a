package table

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/sluicedata/sluice/commitlog"
)

// change puts a transaction that brings no new files. When the outcome is unknown it asks again, a few times: the log tells
// whether the commit is in it.
func (t *Table) change(ctx context.Context, tx commitlog.Transaction) (version int64, err error) {
	result, err := t.log.Commit(ctx, tx)
	var unknown *commitlog.UnknownError
	for tries := 0; errors.As(err, &unknown) && tries < 3; tries++ {
		tx.Actions.Info.TxnID = unknown.TxnID
		result, err = t.log.Commit(ctx, tx)
	}
	return result.Version, err
}

// jsonText is a value as operationParameters have it: JSON in a string, as Spark writes them.
func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}
