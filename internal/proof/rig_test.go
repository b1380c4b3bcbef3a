package proof

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluicedata/sluice/internal/kafkatest"
	"github.com/sluicedata/sluice/internal/s3test"
	"github.com/sluicedata/sluice/internal/toxitest"
)

// exitFailed is the exit code of a run for which storage or broker was away for too long.
const exitFailed = 1

// rig is some pipelines at work, each fed and supervised, with all that stands between them and their storage and that
// can be harmed: the programs reach S3 by toxics and lies, and the broker by toxics. Producers and checks go straight.
type rig struct {
	t      *testing.T
	r      *rand.Rand
	judge  *judge
	tally  tally
	toxics *toxitest.Server
	s3     *toxitest.Proxy // before lies
	lies   *s3test.Proxy   // before the server
	kafka  *toxitest.Proxy // before the broker; nil without topics
	broker *kafkatest.Node
	flows  []*flow
	past   []*supervised // one for each process that has ended
	harmed time.Time     // when harm was last done to storage or broker
}

// flow is a table with its producer and the pipelines that write to it, of which each gets as many of the notes.
type flow struct {
	*producer
	runs    []*supervised
	step    func() error // produces some notes
	feeding *work
}

// supervised is a pipeline whose process is started again when it ends.
type supervised struct {
	*site
	name    string
	process *process
}

// tally counts what has happened, by kind.
type tally map[string]int

func (c tally) String() string {
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(c)) {
		fmt.Fprintf(&b, "\n%6d  %s", c[what], what)
	}
	return b.String()
}

// newRig lays out flows and starts them. When the test fails, all their files are kept.
func newRig(t *testing.T, counts tally, lay ...layout) *rig {
	t.Helper()
	g := &rig{t: t, r: choices(t), judge: newJudge(t), tally: counts, toxics: toxitest.Start(t)}
	g.judge.startS3(t)
	g.lies = s3test.NewProxy(t, g.judge.s3.Server)
	g.s3 = g.toxics.Proxy(t, "127.0.0.1:0", strings.TrimPrefix(g.lies.URL, "http://"))
	for _, l := range lay {
		f := l.lay(g)
		g.flows = append(g.flows, f)
		for i, run := range f.runs {
			run.name = fmt.Sprintf("%s (%d)", l.name, i)
			g.start(run)
		}
		f.feeding = repeat(t, 300*time.Millisecond, f.step)
	}
	t.Cleanup(g.keep)
	return g
}

// layout is a kind of flow.
type layout struct {
	name string
	lay  func(*rig) *flow
}

var (
	kafkaToDisk = layout{"Kafka to disk", func(g *rig) *flow { return g.topic(places{}) }}
	kafkaToS3   = layout{"Kafka to S3", func(g *rig) *flow {
		return g.topic(places{table: g.judge.s3.place("notes")}, g.storage())
	}}
	quarantined = layout{"S3 to S3, with quarantine", func(g *rig) *flow {
		return g.landing(1, 7, ", partition_by: [part]", "on_error: quarantine", "checkpoint: "+g.judge.s3.place("checkpoint"))
	}}
	localCheckpoint = layout{"S3 to S3, checkpoint on disk", func(g *rig) *flow {
		return g.landing(1, 0, "", "checkpoint: checkpoint")
	}}
	together = layout{"S3 to S3, two into one table", func(g *rig) *flow { return g.landing(2, 0, "") }}
)

// storage is the key of a pipeline's file that leads to S3 by what can be harmed.
func (g *rig) storage() string { return fmt.Sprintf(`storage: {endpoint: "http://%s"}`, g.s3.Addr) }

// topic reads a topic of its own.
func (g *rig) topic(at places, keys ...string) *flow {
	const partitions = 3
	if g.broker == nil {
		g.broker = kafkatest.Broker(g.t)
		g.kafka = g.toxics.Proxy(g.t, g.broker.Via, g.broker.Behind)
	}
	topic := g.broker.Topic(g.t, partitions)
	source := kafkaSource(&kafkatest.Cluster{Addrs: []string{g.broker.Via}}, topic)
	s := g.judge.siteAt(g.t, at, source, noteColumns, "", append(keys, "batch: {max_records: 200}")...)
	p, client := &producer{}, g.broker.Client(g.t, manualPartitioner)
	step := func() error { return p.send(client, topic, partitions, 20) }
	return &flow{producer: p, runs: []*supervised{{site: s}}, step: step}
}

// landing has pipelines with landing folders of their own and one table, all in S3.
func (g *rig) landing(pipelines int, badEvery int64, tableKeys string, keys ...string) *flow {
	table := g.judge.s3.place("notes")
	p := &producer{badEvery: badEvery}
	f := &flow{producer: p}
	keys = append(keys, g.storage(), "batch: {max_files: 3}")
	for i := range pipelines {
		at := places{landing: g.judge.s3.place("landing"), table: table}
		s := g.judge.siteAt(g.t, at, filesIn(at.landing), noteColumns, tableKeys, keys...)
		s.configure(g.t, fmt.Sprintf("%s-%d", pipelineName, i), filesIn(at.landing), noteColumns, tableKeys, keys...)
		f.runs = append(f.runs, &supervised{site: s})
	}
	f.step = func() error {
		for _, run := range f.runs {
			if err := p.land(run.landing, 20); err != nil {
				return err
			}
		}
		return nil
	}
	return f
}

// all are the pipelines of all flows.
func (g *rig) all() (runs []*supervised) {
	for _, f := range g.flows {
		runs = append(runs, f.runs...)
	}
	return runs
}

// any is one of the pipelines.
func (g *rig) any() *supervised {
	all := g.all()
	return all[g.r.IntN(len(all))]
}

func (g *rig) start(run *supervised) { run.process = run.site.start(g.t) }

// tend starts again what has ended.
func (g *rig) tend() {
	for _, run := range g.all() {
		select {
		case <-run.process.ended:
			g.end(run)
			g.start(run)
		default:
		}
	}
}

// work waits until each program has committed something.
func (g *rig) work() {
	g.t.Helper()
	for _, run := range g.all() {
		for !run.process.await("msg=committed", 1, patience) {
			g.tend()
		}
	}
}

// end waits for the end of a pipeline's process, which has to be one that a fault explains.
func (g *rig) end(run *supervised) {
	g.t.Helper()
	code := run.process.wait(g.t)
	g.past = append(g.past, &supervised{name: run.name, process: run.process})
	said := run.process.stderr.text()
	if strings.Contains(said, "rerun=") && !strings.Contains(said, "rerun=0") {
		g.tally["starts that found a batch in flight"]++
	}
	switch {
	case code == -int(syscall.SIGKILL):
	case code == exitFenced:
		g.tally["ends: fenced by another process"]++
	case code == exitFailed && time.Since(g.harmed) < time.Minute && outage.MatchString(said):
		g.tally["ends: storage or broker away"]++
		g.t.Logf("%s gave up: %s", run.name, outage.FindString(said))
	default:
		g.t.Fatalf("%s: exit %d, which no fault explains:\n%s", run.name, code, said)
	}
}

// outage is an error of a run that waited for storage or broker in vain.
var outage = regexp.MustCompile(`(?m)^sluice: .*(no answer: |50[03] |Kafka at |since the run is being stopped).*$`)

// pass lets time go by, in which programs are killed now and then.
func (g *rig) pass(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		g.tend()
		if g.r.IntN(3) == 0 {
			g.make(killProgram)
			continue
		}
		select {
		case <-g.any().process.ended:
		case <-time.After(d / 10):
		}
	}
}

// finish lets the pipelines catch up, and checks their tables.
func (g *rig) finish() {
	t := g.t
	t.Helper()
	for _, f := range g.flows {
		f.feeding.stop(t)
	}
	for _, run := range g.all() {
		g.stop(run)
		run.site.finish(t)
	}
	for _, f := range g.flows {
		first := f.runs[0]
		first.checkNotes(t, f.producer)
		first.checkDisk(t)
		for _, run := range f.runs {
			run.checkAudit(t, f.notes/int64(len(f.runs)))
		}
		g.tally["records that are in their table once"] += int(f.notes + f.bad)
		g.tally["versions"] += int(newest(t, first.table)) + 1
	}
	g.judge.judge(t)
}

// keep saves the files of a test that has failed, and what its processes said.
func (g *rig) keep() {
	if !g.t.Failed() {
		return
	}
	folder, err := os.MkdirTemp("", "sluice-soak-")
	if err != nil {
		g.t.Error(err)
		return
	}
	g.t.Logf("the files of this round are kept in %s", folder)
	for name, from := range map[string]string{"sites": g.judge.folder, "s3": g.judge.s3.Root} {
		if err := os.CopyFS(filepath.Join(folder, name), os.DirFS(from)); err != nil {
			g.t.Error(err)
		}
	}
	for i, run := range append(g.past, g.all()...) {
		name := fmt.Sprintf("%04d %s.log", i, run.name)
		if err := os.WriteFile(filepath.Join(folder, name), []byte(run.process.stderr.text()), 0o666); err != nil {
			g.t.Error(err)
		}
	}
}
