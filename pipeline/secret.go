package pipeline

import (
	"fmt"
	"io"
)

const redacted = "[redacted]"

// Secret is a text that formatting and encoding never print.
type Secret string

// Reveal returns the text itself, for the one who logs in with it.
func (s Secret) Reveal() string { return string(s) }

// Format prints a placeholder, whatever the verb.
func (s Secret) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, redacted) }

// String returns a placeholder.
func (s Secret) String() string { return redacted }

// MarshalText encodes a placeholder; JSON, YAML and slog use it.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
