package kafka

import (
	"fmt"
	"sync"
	"time"
)

const (
	firstReminder = 30 * time.Second
	lastReminder  = 5 * time.Minute
)

// outages tells Notice of what is being waited for: at once, then more and more seldom, and when it is over. Safe for
// concurrent use.
type outages struct {
	mu     sync.Mutex
	notice func(string)
	open   map[string]*outage // by what is being tried
}

type outage struct {
	since time.Time
	next  time.Time // of the reminder
	every time.Duration
}

func newOutages(notice func(string)) *outages {
	if notice == nil {
		notice = func(string) {}
	}
	return &outages{notice: notice, open: map[string]*outage{}}
}

// report says that what failed, and is being tried again.
func (o *outages) report(what, message string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	known := o.open[what]
	if known == nil {
		o.open[what] = &outage{since: now, next: now.Add(firstReminder), every: firstReminder}
		o.notice(message + "; waiting for it")
		return
	}
	if now.Before(known.next) {
		return
	}
	known.every = min(known.every*2, lastReminder)
	known.next = now.Add(known.every)
	o.notice(fmt.Sprintf("%s; waiting for it since %s", message, now.Sub(known.since).Round(time.Second)))
}

// over says that what was reported works again.
func (o *outages) over(reported []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, what := range reported {
		known := o.open[what]
		if known == nil {
			continue
		}
		delete(o.open, what)
		o.notice(fmt.Sprintf("%s: works again after %s", what, time.Since(known.since).Round(100*time.Millisecond)))
	}
}
