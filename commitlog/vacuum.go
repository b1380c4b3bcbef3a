package commitlog

import "time"

// deletedFileRetention is for how long files that were removed stay, unless the table says otherwise.
const deletedFileRetention = 7 * 24 * time.Hour

const propDeletedFileRetention = "delta.deletedFileRetentionDuration"

// DeletedFileRetention is how long a file that a version no longer has is to stay for readers of older versions: the table's
// delta.deletedFileRetentionDuration, 7 days by default.
func (h *Head) DeletedFileRetention() (time.Duration, error) {
	text, ok := h.Metadata.Configuration[propDeletedFileRetention]
	if !ok {
		return deletedFileRetention, nil
	}
	return ParseInterval(text)
}

// Vacuumable tells whether it is known which files the table needs: nil, or an *UnsupportedError.
func (h *Head) Vacuumable() error { return h.maintainable("vacuuming") }

// maintainable tells whether all that a writer has to know is known, as maintenance needs it: nil, or an *UnsupportedError. It
// asks for less than an append does, but for all features that the protocol lists ("Vacuum Protocol Check").
func (h *Head) maintainable(use string) error {
	var r refusal
	if h.Protocol.MinWriterVersion > maxWriterVersion {
		r.add("a writer version above 7", "")
	}
	for _, f := range h.Protocol.writes() {
		if _, known := supportOf(f); !known {
			r.add(f, "")
		}
	}
	return r.err(h.table, use)
}
