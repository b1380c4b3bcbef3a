package table

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluicedata/sluice/commitlog"
)

// Make makes the table, without rows. ErrExists says that there is one.
func (t *Table) Make(ctx context.Context, c *Create) error {
	if err := c.Check(); err != nil {
		return err
	}
	c, err := c.mapped()
	if err != nil {
		return err
	}
	head, err := t.log.Refresh(ctx)
	if err == nil {
		return fmt.Errorf("create table %s: %w at version %d", t.store.URL(), ErrExists, head.Version)
	}
	if !errors.Is(err, commitlog.ErrNoTable) {
		return err
	}
	tx := commitlog.Transaction{ReadVersion: commitlog.NoTable}
	if tx.Actions, err = c.actions(t.options.Now()); err != nil {
		return err
	}
	tx.Actions.Info = &commitlog.CommitInfo{
		Operation: "CREATE TABLE", EngineInfo: t.engine(),
		OperationParameters: map[string]any{
			"isManaged": "false", "partitionBy": jsonText(tx.Actions.Metadata.PartitionColumns), "properties": jsonText(tx.Actions.Metadata.Configuration),
			"clusterBy": jsonText(append([]string{}, c.ClusterBy...)),
		},
	}
	_, err = t.change(ctx, tx)
	return err
}

// ErrExists says that there is a table where one was to be made.
var ErrExists = errors.New("there is a table already")
