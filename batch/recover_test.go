package batch

import (
	"errors"
	"strings"
	"testing"

	"github.com/sluicedata/sluice/offsetlog"
)

const ours, foreign = "ours", "foreign"

// plans makes the plans first to last, each of ten offsets, made for table "t" when batch-1 was known to be committed.
func plans(first, last int64, change ...func(*offsetlog.Plan)) []offsetlog.Plan {
	var all []offsetlog.Plan
	for b := first; b <= last; b++ {
		p := offsetlog.Plan{Pipeline: "p", Checkpoint: ours, Batch: b, Ranges: rangeOf(b, b), Table: "t"}
		if b > 0 {
			p.Committed = &offsetlog.Committed{Batch: b - 1, Version: b - 1 + 100}
		} else {
			p.Table = ""
		}
		for _, c := range change {
			c(&p)
		}
		all = append(all, p)
	}
	return all
}

func rangeOf(since, batch int64) []offsetlog.Range {
	return []offsetlog.Range{{Partition: "t/0", ID: "x", From: since * 10, To: batch*10 + 10}}
}

// holds is a table whose newest batch of ours is given, covering the batches from since.
func holds(since, batch int64, change ...func(*Record)) *TableState {
	r := &Record{App: "p", Batch: batch, Since: since, Checkpoint: ours, Ranges: rangeOf(since, batch)}
	for _, c := range change {
		c(r)
	}
	text, err := r.Metadata()
	if err != nil {
		panic(err) // a record always marshals
	}
	return &TableState{ID: "t", Version: batch + 100, Batch: batch, BatchVersion: batch + 100, UserMetadata: text}
}

func unrecorded(id string) *TableState {
	return &TableState{ID: id, Version: 7, Batch: -1, BatchVersion: -1}
}

func TestRecoveryTable(t *testing.T) {
	uncommitted := func(p *offsetlog.Plan) { p.Committed, p.Table = nil, "" }
	adopted := func(p *offsetlog.Plan) {
		if p.Batch == 4 {
			p.Adopted = &offsetlog.Adopted{Checkpoint: foreign}
		}
	}
	forgotten := func(since, batch int64) *TableState {
		s := holds(since, batch, func(r *Record) { r.Checkpoint = foreign })
		s.History, s.Batch, s.BatchVersion, s.UserMetadata = ParseRecord(s.UserMetadata), -1, -1, ""
		return s
	}
	adoptedForgotten := func(p *offsetlog.Plan) {
		if p.Batch == 4 {
			p.Adopted = &offsetlog.Adopted{Checkpoint: foreign, Unrecorded: "t"}
		}
	}
	// ended is a clean end that recorded the newest plan's batch as committed.
	ended := func(p *offsetlog.Plan) { p.Committed = &offsetlog.Committed{Batch: p.Batch, Version: p.Batch + 100} }
	// cleaned is a table that knows of a batch by a log checkpoint alone.
	cleaned := func(batch int64) *TableState {
		return &TableState{ID: "t", Version: 200, Batch: batch, BatchVersion: -1}
	}
	of := func(p *offsetlog.Plan) { p.Table = "t" }
	tests := map[string]struct {
		plans   []offsetlog.Plan
		table   *TableState
		rerun   []int64 // first and last, nil for none
		notice  string
		refused string
	}{
		"nothing anywhere":                                  {nil, nil, nil, "", ""},
		"a new pipeline on an existing table":               {nil, unrecorded("t"), nil, "", ""},
		"P = T":                                             {plans(0, 4), holds(4, 4), nil, "", ""},
		"P = T, old plans pruned":                           {plans(3, 4), holds(4, 4), nil, "", ""},
		"P = T+1":                                           {plans(0, 5), holds(4, 4), []int64{5, 5}, "", ""},
		"P = T+1 at the first batch":                        {plans(0, 0), nil, []int64{0, 0}, "", ""},
		"P > T+1, batches without rows":                     {plans(0, 7, func(p *offsetlog.Plan) { p.Committed = &offsetlog.Committed{Batch: 4, Version: 104} }), holds(4, 4), []int64{5, 7}, "", ""},
		"a commit that covers batches without rows":         {plans(0, 4), holds(2, 4), nil, "", ""},
		"P > T+1, the table went back":                      {plans(0, 7), holds(4, 4), []int64{5, 7}, "went back", ""},
		"P = T after a clean end":                           {plans(0, 4, ended), holds(4, 4), nil, "", ""},
		"P = T+1, the table lost its newest commit":         {plans(0, 5, ended), holds(4, 4), []int64{5, 5}, "batch 5 was committed as version 105", ""},
		"the only batch was committed, the table is gone":   {plans(0, 0, ended), nil, nil, "", "table is gone"},
		"the only batch was committed, the record is gone":  {plans(0, 0, ended), unrecorded("t"), nil, "", "no record"},
		"the only batch was committed, another table":       {plans(0, 0, ended, func(p *offsetlog.Plan) { p.Table = "t" }), unrecorded("u"), nil, "", "dropped and created again"},
		"first batches without rows, no table yet":          {plans(0, 3, uncommitted), nil, []int64{0, 3}, "", ""},
		"first batches without rows, a table of others":     {plans(0, 3, uncommitted), unrecorded("t"), []int64{0, 3}, "", ""},
		"the commit was cleaned up, a clean end knows it":   {plans(0, 4, ended, of), cleaned(4), nil, "", ""},
		"the commit was cleaned up, the next plan knows it": {plans(3, 5, of), cleaned(4), []int64{5, 5}, "", ""},
		"the commit was cleaned up, nothing knows it":       {plans(0, 4, of), cleaned(4), nil, "", "does not know whether"},
		"the commit was cleaned up, the table went back":    {plans(0, 7, of), cleaned(4), nil, "", "does not know whether"},
		"the commit was cleaned up, another table":          {plans(0, 4, ended, func(p *offsetlog.Plan) { p.Table = "u" }), cleaned(4), nil, "", "another table"},
		"the commit was cleaned up, no plans":               {nil, cleaned(4), nil, "", "no plans to go on from"},
		"the commit was cleaned up, P < T":                  {plans(0, 3, ended, of), cleaned(4), nil, "", "no plan of that batch"},
		"the commit was cleaned up, plans pruned":           {plans(5, 6, of), cleaned(4), nil, "", "no plan of that batch"},
		"P < T":                                                          {plans(0, 3), holds(4, 4), nil, "", "older than the table"},
		"P < T, checkpoint deleted":                                      {nil, holds(4, 4), nil, "", "no plans"},
		"plan T has other ranges":                                        {plans(0, 4, func(p *offsetlog.Plan) { p.Ranges[0].To++ }), holds(4, 4), nil, "", "other ranges"},
		"plan T is of another checkpoint":                                {plans(0, 4), holds(4, 4, func(r *Record) { r.Checkpoint = foreign }), nil, "", "another checkpoint"},
		"covered plans differ":                                           {plans(0, 4, func(p *offsetlog.Plan) { p.Ranges[0].From = max(0, p.Ranges[0].From-1) }), holds(2, 4), nil, "", "other ranges"},
		"covered plans are gone":                                         {plans(3, 4), holds(2, 4), nil, "", "plans are gone"},
		"the table went back behind the plans":                           {plans(6, 9), holds(4, 4), nil, "", "further than the plans"},
		"no record, though a batch was committed":                        {plans(0, 4), unrecorded("t"), nil, "", "no record"},
		"no record, and plans pruned":                                    {plans(3, 4, uncommitted), unrecorded("t"), nil, "", "no record"},
		"the table is gone":                                              {plans(0, 4), nil, nil, "", "table is gone"},
		"another table, without a record":                                {plans(0, 4), unrecorded("u"), nil, "", "dropped and created again"},
		"another table, before the first commit":                         {plans(0, 0, func(p *offsetlog.Plan) { p.Table = "t" }), unrecorded("u"), nil, "", "dropped and created again"},
		"another table, with a record":                                   {plans(0, 4, func(p *offsetlog.Plan) { p.Table = "u" }), holds(4, 4), nil, "", "not the one"},
		"another program's txn under our name":                           {plans(0, 4), &TableState{ID: "t", Batch: 4, UserMetadata: "hello"}, nil, "", "not written by this program"},
		"another pipeline's record under our name":                       {plans(0, 4), holds(4, 4, func(r *Record) { r.App = "q" }), nil, "", "not written by this program"},
		"adopted, nothing since":                                         {plans(4, 4, adopted), holds(4, 4, func(r *Record) { r.Checkpoint = foreign }), nil, "", ""},
		"adopted, nothing since, covering more than itself":              {plans(4, 4, adopted, func(p *offsetlog.Plan) { p.Ranges = rangeOf(2, 4) }), holds(2, 4, func(r *Record) { r.Checkpoint = foreign }), nil, "", ""},
		"adopted, then a batch in flight":                                {plans(4, 5, adopted), holds(4, 4, func(r *Record) { r.Checkpoint = foreign }), []int64{5, 5}, "", ""},
		"adopted, then committed":                                        {plans(4, 5, adopted), holds(5, 5), nil, "", ""},
		"adopted from another checkpoint than the table has":             {plans(4, 4, adopted), holds(4, 4), nil, "", "not the one that the checkpoint adopted"},
		"the txn is gone, the history is there":                          {plans(0, 4), forgotten(4, 4), nil, "", "no txn action"},
		"the txn is gone, and the checkpoint":                            {nil, forgotten(4, 4), nil, "", "no txn action"},
		"adopted without a txn, nothing since":                           {plans(4, 4, adoptedForgotten), forgotten(4, 4), nil, "", ""},
		"adopted without a txn, a batch in flight":                       {plans(4, 5, adoptedForgotten), forgotten(4, 4), []int64{5, 5}, "", ""},
		"adopted without a txn, then a commit whose txn is gone as well": {plans(4, 5, adoptedForgotten), forgotten(5, 5), nil, "", "no txn action"},
		"adopted without a txn, another table":                           {plans(4, 4, adoptedForgotten), func() *TableState { s := forgotten(4, 4); s.ID = "u"; return s }(), nil, "", "no txn action"},
		"adopted, and the table is gone":                                 {plans(4, 4, adopted), nil, nil, "", "table is gone"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var known *offsetlog.Committed
			if n := len(test.plans); n > 0 {
				known = test.plans[n-1].Committed
			}
			r, err := recoverFrom("p", test.plans, known, test.table)
			if test.refused != "" {
				checkRefusal(t, err, test.refused, test.plans, test.table)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []int64
			if n := len(r.rerun); n > 0 {
				got = []int64{r.rerun[0].Batch, r.rerun[n-1].Batch}
			}
			if len(got) != len(test.rerun) || len(got) == 2 && (got[0] != test.rerun[0] || got[1] != test.rerun[1]) {
				t.Errorf("reruns %v, want %v", got, test.rerun)
			}
			if text := strings.Join(r.notices, "\n"); !strings.Contains(text, test.notice) || test.notice == "" && text != "" {
				t.Errorf("notices %q, want %q", text, test.notice)
			}
		})
	}
}

// checkRefusal checks that a refusal names both sides and a way out.
func checkRefusal(t *testing.T, err error, problem string, plans []offsetlog.Plan, table *TableState) {
	t.Helper()
	var refused *RefusedError
	if !errors.As(err, &refused) {
		t.Fatalf("got %v, want a refusal", err)
	}
	wants := []string{problem, "table:", "checkpoint:"}
	if len(plans) > 0 {
		wants = append(wants, "t/0 [")
	}
	if table != nil && table.Batch >= 0 && ParseRecord(table.UserMetadata) != nil {
		wants = append(wants, "batch 4 (version 104")
	}
	for _, want := range wants {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	if refused.WayOut == "" {
		t.Error("no way out")
	}
}
