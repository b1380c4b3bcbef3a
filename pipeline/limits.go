package pipeline

import "time"

// defaultBatch returns the limits that a batch has without any of the batch keys.
func defaultBatch() Batch {
	return Batch{MaxRecords: 1_000_000, MaxBytes: 256e6, MaxFiles: 1000}
}

func (r *reader) readTrigger(dst *Trigger, v value) {
	s, ok := r.textScalar(v, string(AvailableNow))
	if !ok {
		return
	}
	t, err := ParseTrigger(s.text)
	if err != nil {
		r.fault(v, s.shown()+" "+err.Error(), TriggerForms)
		return
	}
	*dst = t
}

func (r *reader) batch(file map[string]value) Batch {
	b := defaultBatch()
	v, ok := file["batch"]
	if !ok {
		return b
	}
	fields, ok := r.section(v, "batch")
	if !ok {
		return b
	}
	whole := func(dst *int64, key string, least int64, example string) {
		if v, ok := fields[key]; ok {
			if n, ok := r.integer(v, least, example); ok {
				*dst = n
			}
		}
	}
	whole(&b.MaxRecords, "max_records", 1, "1000000")
	whole(&b.MaxFiles, "max_files", 1, "1000")
	whole(&b.MinRecords, "min_records", 0, "10000")
	if v, ok := fields["max_bytes"]; ok {
		if n, ok := r.size(v, "256MB"); ok {
			b.MaxBytes = n
		}
	}
	delay, delayOK := time.Duration(0), true
	if v, ok := fields["max_delay"]; ok {
		delay, delayOK = r.duration(v, "30s")
		b.MaxDelay = delay
	}
	if delayOK {
		r.checkWaiting(b)
	}
	return b
}

// checkWaiting finds fault with a batch that would wait for ever, or for nothing.
func (r *reader) checkWaiting(b Batch) {
	switch {
	case b.MinRecords > 0 && b.MaxDelay == 0:
		r.faultAt("batch.min_records", "would wait for ever on a quiet source without a max_delay", "write max_delay: 30s beside it")
	case b.MinRecords == 0 && b.MaxDelay > 0:
		r.faultAt("batch.max_delay", "has no effect without min_records", "write min_records: 10000 beside it, or delete max_delay")
	case b.MinRecords > b.MaxRecords:
		r.faultAt("batch.min_records", "is more than max_records, which no batch can have", "write at most the value of max_records")
	}
}

func (r *reader) onError(file map[string]value) OnError {
	out := OnError{Policy: PolicyFail}
	v, ok := file["on_error"]
	if !ok {
		return out
	}
	if !isMapping(v) {
		oneOf(r, v, &out.Policy, PolicyFail, PolicySkip, PolicyQuarantine)
		return out
	}
	fields, ok := r.section(v, "on_error")
	if !ok {
		return out
	}
	isFail := false
	if p, ok := r.need(fields, v, "policy", string(PolicyQuarantine)); ok {
		isFail = oneOf(r, p, &out.Policy, PolicyFail, PolicySkip, PolicyQuarantine) && out.Policy == PolicyFail
	}
	if m, ok := fields["max_bad_records"]; ok {
		out.MaxBadRecords, ok = r.integer(m, 1, "1000")
		if ok && isFail {
			r.fault(m, "has no effect with policy fail, which stops at the first bad record", "delete it, or write policy: skip or quarantine")
		}
	}
	return out
}
