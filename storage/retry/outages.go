package retry

import (
	"fmt"
	"sync"
	"time"
)

const (
	firstReminder = 30 * time.Second
	lastReminder  = 5 * time.Minute
)

// Outages knows what is being waited for, and says so: at once, then more and more seldom, and when it is over. Safe for
// concurrent use; on nil nothing is known or said.
type Outages struct {
	mu     sync.Mutex
	notice func(string)
	open   map[string]*outage // by what is being tried
}

// Outage is something that has failed for a while and is being tried again.
type Outage struct {
	What  string // is being tried: "reach Kafka"
	Since time.Time
	Tried time.Time // the newest try that failed
	Err   error     // of that
}

type outage struct {
	Outage
	next  time.Time // of the reminder
	every time.Duration
}

// NewOutages makes an empty register. notice, which may be nil, is called from any goroutine, one at a time.
func NewOutages(notice func(string)) *Outages {
	if notice == nil {
		notice = func(string) {}
	}
	return &Outages{notice: notice, open: map[string]*outage{}}
}

// Report says that what has failed since a time, now with err, and is being tried again.
func (o *Outages) Report(what string, since time.Time, err error) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	known := o.open[what]
	if known == nil {
		o.open[what] = &outage{Outage: Outage{what, since, now, err}, next: now.Add(firstReminder), every: firstReminder}
		o.notice(fmt.Sprintf("%v; waiting for it", err))
		return
	}
	known.Tried, known.Err = now, err
	if now.Before(known.next) {
		return
	}
	known.every = min(known.every*2, lastReminder)
	known.next = now.Add(known.every)
	o.notice(fmt.Sprintf("%v; waiting for it since %s", err, now.Sub(known.Since).Round(time.Second)))
}

// Over says that what was reported works again.
func (o *Outages) Over(reported ...string) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, what := range reported {
		known := o.open[what]
		if known == nil {
			continue
		}
		delete(o.open, what)
		o.notice(fmt.Sprintf("%s: works again after %s", what, time.Since(known.Since).Round(100*time.Millisecond)))
	}
}

// Oldest returns what has been waited for longest, if there is anything.
func (o *Outages) Oldest() (oldest Outage, waiting bool) {
	if o == nil {
		return Outage{}, false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, known := range o.open {
		if !waiting || known.Since.Before(oldest.Since) {
			oldest, waiting = known.Outage, true
		}
	}
	return oldest, waiting
}
