package pipeline

import (
	"context"
	"fmt"

	"github.com/sluicedata/sluice/batch"
	"github.com/sluicedata/sluice/commitlog"
	"github.com/sluicedata/sluice/offsetlog"
	"github.com/sluicedata/sluice/source"
)

// Audit proves from the table's log alone that every range was committed once. The report's Err says whether it did.
func (p *Pipeline) Audit(ctx context.Context) (*batch.AuditReport, error) {
	report := batch.NewAudit(p.File.Name)
	err := p.lake.table.History(ctx, func(c *commitlog.Commit) error {
		report.Commit(view(p.File.Name, c))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("audit table %s: %w", p.File.Table.Path, err)
	}
	return report, nil
}

// Status tells where the pipeline stands. It changes nothing.
func (p *Pipeline) Status(ctx context.Context) (*batch.Status, error) {
	s, err := p.Engine.ReadStatus(ctx, p.lake.records)
	if s == nil {
		return nil, err
	}
	s.Memory.Limit, s.Memory.Budget, s.Memory.Shares = p.File.Memory, p.Memory.Total(), map[string]int64{}
	for _, u := range p.Memory.Use() {
		s.Memory.Shares[u.Account] = u.Share
	}
	return s, err
}

// Adopt makes the checkpoint anew from the table's own record and returns that.
func (p *Pipeline) Adopt(ctx context.Context) (*batch.Record, error) {
	if err := p.probe(ctx); err != nil {
		return nil, err
	}
	state, err := p.lake.Refresh(ctx)
	if err != nil {
		return nil, err
	}
	return batch.Adopt(ctx, p.File.Name, p.config.Checkpoint, p.Source, state, p.lake.records)
}

// FirstPlan says what the pipeline would read if it had no past. It changes nothing.
func (p *Pipeline) FirstPlan(ctx context.Context) (source.Planned, error) {
	nothing := func(func(int64, []offsetlog.Range) error) error { return nil }
	if err := p.Source.Restore(ctx, source.History{First: true, Batches: nothing}); err != nil {
		return source.Planned{}, err
	}
	return p.Source.Next(ctx, p.config.Settings.Limits)
}
