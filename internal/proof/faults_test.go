package proof

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"syscall"
	"time"

	"github.com/sluicedata/sluice/internal/s3test"
	"github.com/sluicedata/sluice/internal/toxitest"
)

// fault is what is done to a rig. It is over when make returns.
type fault struct {
	name   string
	weight int // how often it is chosen, relative to the others
	make   func(*rig)
}

var (
	killProgram = fault{"kill of a program", 50, (*rig).kill}
	stopProgram = fault{"program asked to stop", 4, func(g *rig) { run := g.any(); g.stop(run); g.start(run) }}
	dozeProgram = fault{"program asleep while a second copy goes on", 5, (*rig).doze}
	killServer  = fault{"kill of the S3 server", 4, func(g *rig) {
		g.harm(func() { g.judge.s3.Kill(g.t) }, func() { g.judge.s3.Restart(g.t) })
	}}
	killBroker = fault{"kill of the broker", 1, func(g *rig) {
		g.harm(func() { g.broker.Kill(g.t) }, func() { g.broker.Start(g.t) })
	}}

	slowDown     = fault{"S3 asks to slow down", 3, lie(0.8, func(*http.Request) s3test.Fault { return s3test.Refuse })}
	lostAnswers  = fault{"answers of S3 lost", 4, lie(0.3, func(*http.Request) s3test.Fault { return s3test.ResetAfter })}
	wrongAnswers = fault{"answers of S3 replaced by errors", 3, lie(0.3, func(*http.Request) s3test.Fault { return s3test.ErrorAfter })}
	lateRequests = fault{"requests to S3 late", 3, lie(0.2, onWrites(s3test.Late))}
	flippedBits  = fault{"requests to S3 damaged", 2, lie(0.3, onWrites(s3test.Flip))}

	s3Stalls     = fault{"S3 stalls", 2, func(g *rig) { g.onTheWay(g.s3, stall) }}
	s3Slow       = fault{"S3 is slow", 2, func(g *rig) { g.onTheWay(g.s3, slow) }}
	s3Resets     = fault{"connections to S3 reset", 3, func(g *rig) { g.onTheWay(g.s3, reset) }}
	s3Swallowed  = fault{"connections to S3 dead", 2, func(g *rig) { g.onTheWay(g.s3, swallow) }}
	kafkaStalls  = fault{"Kafka stalls", 1, func(g *rig) { g.onTheWay(g.kafka, stall) }}
	kafkaResets  = fault{"connections to Kafka reset", 2, func(g *rig) { g.onTheWay(g.kafka, reset) }}
	kafkaSwallow = fault{"connections to Kafka dead", 1, func(g *rig) { g.onTheWay(g.kafka, swallow) }}
)

var faults = []fault{
	killProgram, stopProgram, dozeProgram, killServer, killBroker,
	slowDown, lostAnswers, wrongAnswers, lateRequests, flippedBits,
	s3Stalls, s3Slow, s3Resets, s3Swallowed, kafkaStalls, kafkaResets, kafkaSwallow,
}

// choose takes one of the faults by their weights.
func choose(r *rand.Rand) fault {
	var deck []fault // each as often as it weighs
	for _, f := range faults {
		deck = append(deck, slices.Repeat([]fault{f}, f.weight)...)
	}
	return deck[r.IntN(len(deck))]
}

// make makes a fault and counts it.
func (g *rig) make(f fault) {
	g.t.Log(f.name)
	g.tally[f.name]++
	f.make(g)
	g.tend()
}

// kill ends one of the programs with SIGKILL, each time at another instant.
func (g *rig) kill() {
	run := g.any()
	g.t.Logf("  %s: %s", run.name, run.awaitInstant(run.process, g.r))
	run.process.signal(syscall.SIGKILL)
	g.end(run)
	g.start(run)
}

// stop has a program end cleanly.
func (g *rig) stop(run *supervised) {
	g.t.Helper()
	run.process.await("pipeline=", 1, patience) // signals are taken from before the first line on
	run.process.signal(syscall.SIGTERM)
	if run.process.wait(g.t) != 0 {
		g.end(run)
	}
}

// doze stops a program at some instant, and wakes it up when a second one has gone on.
func (g *rig) doze() {
	run := g.any()
	sleeper := *run
	g.t.Logf("  %s: %s", run.name, run.awaitInstant(sleeper.process, g.r))
	sleeper.process.stop(g.t)
	g.start(run)
	run.process.await("msg=committed", 1+g.r.IntN(3), 5*time.Second)
	sleeper.process.signal(syscall.SIGCONT)
	select {
	case <-sleeper.process.ended:
	case <-run.process.ended:
	case <-time.After(5 * time.Second):
	}
	sleeper.process.signal(syscall.SIGKILL)
	g.end(&sleeper)
}

// harm does harm for some seconds, until it is healed.
func (g *rig) harm(do, heal func()) {
	g.harmed = time.Now()
	do()
	g.pass(time.Second + time.Duration(g.r.Int64N(int64(5*time.Second))))
	heal()
	g.harmed = time.Now()
}

// lie has the proxy harm a part of the requests.
func lie(part float64, how func(*http.Request) s3test.Fault) func(*rig) {
	return func(g *rig) {
		g.harm(func() {
			g.lies.Harm(func(r *http.Request) s3test.Fault {
				if rand.Float64() < part {
					return how(r)
				}
				return s3test.None
			})
		}, func() { g.lies.Harm(nil) })
	}
}

// onWrites harms what changes something.
func onWrites(f s3test.Fault) func(*http.Request) s3test.Fault {
	return func(r *http.Request) s3test.Fault {
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			return s3test.None
		}
		return f
	}
}

// onTheWay harms the connections to a server.
func (g *rig) onTheWay(p *toxitest.Proxy, how func(*rig, *toxitest.Proxy)) {
	g.harm(func() { how(g, p) }, func() { g.toxics.Heal(g.t) })
}

// stall holds all bytes back for longer than anything takes.
func stall(g *rig, p *toxitest.Proxy) { p.Delay(g.t, toxitest.Down, 5*time.Second, 0) }

func slow(g *rig, p *toxitest.Proxy) {
	p.Delay(g.t, toxitest.Up, 100*time.Millisecond, 90*time.Millisecond)
}

func reset(g *rig, p *toxitest.Proxy) {
	p.Reset(g.t, []toxitest.Stream{toxitest.Up, toxitest.Down}[g.r.IntN(2)])
}

func swallow(g *rig, p *toxitest.Proxy) {
	p.Swallow(g.t, []toxitest.Stream{toxitest.Up, toxitest.Down}[g.r.IntN(2)])
}
