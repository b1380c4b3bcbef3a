package pipeline

import (
	"errors"
	"strings"
	"time"
)

// TriggerMode says when batches begin.
type TriggerMode string

// The modes of a trigger.
const (
	AvailableNow TriggerMode = "available-now" // read what is there, then stop
	Continuous   TriggerMode = "continuous"    // go on for ever, batch after batch
	Every        TriggerMode = "every"         // go on for ever, a batch an interval
)

// Trigger says when batches begin. The zero value is not a trigger.
type Trigger struct {
	Mode  TriggerMode
	Every time.Duration // for Every; above 0
}

// String returns the trigger as ParseTrigger reads it.
func (t Trigger) String() string {
	if t.Mode == Every {
		return "every " + t.Every.String()
	}
	return string(t.Mode)
}

// TriggerForms tells a person how triggers are written.
const TriggerForms = `write available-now, continuous or every 1m`

// ParseTrigger reads available-now, continuous, or "every" and a duration: "every 10s". Its error says what is wrong
// with s, without s.
func ParseTrigger(s string) (Trigger, error) {
	switch TriggerMode(s) {
	case AvailableNow, Continuous:
		return Trigger{Mode: TriggerMode(s)}, nil
	}
	words := strings.Fields(s)
	if len(words) != 2 || words[0] != string(Every) {
		return Trigger{}, errors.New("is not a trigger")
	}
	d, err := parseDuration(words[1])
	if err != nil {
		return Trigger{}, errors.New("has an interval that " + err.Error())
	}
	if d <= 0 {
		return Trigger{}, errors.New("has an interval of zero")
	}
	return Trigger{Mode: Every, Every: d}, nil
}
