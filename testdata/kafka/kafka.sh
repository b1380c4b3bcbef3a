#!/usr/bin/env bash
# A real Apache Kafka (KRaft, one node, loopback only) for tests, from Maven Central. Needs java 17 or newer, and mvn to
# install.
#
#   kafka.sh install DIR           jars and a class archive into DIR; does nothing when they are there
#   kafka.sh start DIR DATA PORT   broker on PORT, controller on PORT+1; returns when the broker answers clients
#   kafka.sh run DIR DATA PORT     the same in the foreground: the process becomes the broker
#   kafka.sh stop DATA             SIGTERM, and waits for the end
#   kafka.sh kill DATA             SIGKILL, and waits for the end
#   kafka.sh guard DATA            waits for the end of its input, then kills the broker and removes DATA
#
# Several installs at once are safe: they take turns on DIR/lock.
# DATA holds kafka.pid, kafka.log (kafka.log.1 of the run before), server.properties, and the partitions in logs/.
# KAFKA_PROPS adds lines to server.properties, which win over those below; give them again at every start.
# KAFKA_JVM replaces the flags of java.
set -euo pipefail

kafka_version=4.4.0
log4j_version=2.25.5
dependency_plugin=org.apache.maven.plugins:maven-dependency-plugin:3.11.0

fail() {
  echo "kafka.sh: $*" >&2
  exit 1
}

install() {
  local dir
  dir=$(realpath -m "$1")
  mkdir -p "$dir"
  exec 9>"$dir/lock"
  flock 9
  [[ -e $dir/classes-$kafka_version.jsa ]] && return
  command -v java >/dev/null || fail "java is not installed: Kafka $kafka_version needs java 17 or newer"
  command -v mvn >/dev/null || fail "mvn is not installed: it fetches Kafka $kafka_version"
  fetch_jars "$dir"
  archive_classes "$dir"
}

fetch_jars() {
  local dir=$1 new
  new=$(mktemp -d "$dir/new.XXXXXX")
  cat >"$new/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>sluice.test</groupId><artifactId>broker</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>$kafka_version</version></dependency>
    <dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-slf4j-impl</artifactId><version>$log4j_version</version></dependency>
  </dependencies>
</project>
POM
  mvn -q -B -f "$new/pom.xml" "$dependency_plugin:copy-dependencies" -DincludeScope=runtime -DoutputDirectory="$new/libs"
  cat >"$new/libs/log4j2.properties" <<'LOG4J'
rootLogger = INFO, out
logger.config.name = org.apache.kafka.common.config
logger.config.level = WARN
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{ISO8601} %p %m (%c)%n
LOG4J
  rm -rf "$dir/libs"
  mv "$new/libs" "$dir/libs"
  rm -rf "$new"
}

# With its classes parsed beforehand, a start takes about half the CPU time. The archive is written when the JVM ends, so
# one short run makes it; it also is the mark of a complete install.
archive_classes() {
  local dir=$1 data
  data=$(mktemp -d "$dir/first.XXXXXX")
  KAFKA_JVM="-Xmx256m -XX:ArchiveClassesAtExit=$dir/classes.new -Xlog:disable" \
    start "$dir" "$data" $((20000 + RANDOM % 10000))
  finish TERM "$data"
  mv "$dir/classes.new" "$dir/classes-$kafka_version.jsa"
  rm -rf "$data"
}

configure() {
  local data=$1 port=$2
  mkdir -p "$data"
  cat >"$data/server.properties" <<PROPS
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$((port + 1))
advertised.listeners=PLAINTEXT://127.0.0.1:$port
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers=127.0.0.1:$((port + 1))
log.dirs=$(realpath "$data")/logs
# A killed broker may register again only when its old session has timed out.
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
auto.create.topics.enable=false
delete.topic.enable=true
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=1
group.initial.rebalance.delay.ms=0
# Not below 5000: a transaction that times out in the first second after SIGKILL finds its partition without a leader,
# gets no marker, and holds the last stable offset for ever.
transaction.abort.timed.out.transaction.cleanup.interval.ms=5000
log.initial.task.delay.ms=1000
log.retention.check.interval.ms=1000
log.segment.delete.delay.ms=1000
log.cleaner.backoff.ms=1000
log.cleaner.dedupe.buffer.size=8388608
${KAFKA_PROPS:-}
PROPS
}

run() {
  local dir data=$2 port=$3 id java
  dir=$(realpath "$1")
  java=(java -cp "$dir/libs/*" "-Dlog4j2.configurationFile=$dir/libs/log4j2.properties" -XX:+UseSerialGC)
  [[ -e $dir/classes-$kafka_version.jsa ]] && java+=("-XX:SharedArchiveFile=$dir/classes-$kafka_version.jsa")
  configure "$data" "$port"
  if [[ ! -e $data/formatted ]]; then
    rm -rf "$data/logs"
    id=$(head -c 16 /dev/urandom | base64 | tr '+/' 'xy' | cut -c 1-22)
    "${java[@]}" kafka.tools.StorageTool format --standalone -t "$id" -c "$data/server.properties"
    touch "$data/formatted"
  fi
  # shellcheck disable=SC2086 # the flags are words
  exec "${java[@]}" ${KAFKA_JVM:--Xmx256m -XX:TieredStopAtLevel=1} kafka.Kafka "$data/server.properties"
}

start() {
  local dir=$1 data=$2 port=$3 pid i
  [[ -d $dir/libs ]] || fail "no Kafka in $dir: run install first"
  alive "$data" && fail "$data is in use by process $(<"$data/kafka.pid")"
  mkdir -p "$data"
  [[ -e $data/kafka.log ]] && mv "$data/kafka.log" "$data/kafka.log.1"
  setsid "${BASH_SOURCE[0]}" run "$dir" "$data" "$port" >"$data/kafka.log" 2>&1 </dev/null 9>&- &
  pid=$!
  echo "$pid" >"$data/kafka.pid"
  for ((i = 0; i < 900; i++)); do
    grep -qs 'Kafka Server started' "$data/kafka.log" && return
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  kill -KILL "$pid" 2>/dev/null || true
  rm -f "$data/kafka.pid"
  tail -n 30 "$data/kafka.log" >&2
  fail "the broker on port $port did not start: see $data/kafka.log"
}

alive() { [[ -e $1/kafka.pid ]] && kill -0 "$(<"$1/kafka.pid")" 2>/dev/null; }

finish() {
  local signal=$1 data=$2 i
  if alive "$data"; then
    kill "-$signal" "$(<"$data/kafka.pid")"
    for ((i = 0; i < 600; i++)); do
      alive "$data" || break
      sleep 0.1
    done
    alive "$data" && fail "process $(<"$data/kafka.pid") did not end"
  fi
  rm -f "$data/kafka.pid"
}

guard() {
  local data=$1
  cat >/dev/null
  finish KILL "$data"
  rm -rf "$data"
}

usage() {
  sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
  exit 2
}

case "${1:-}/$#" in
  install/2) install "$2" ;;
  start/4) start "$2" "$3" "$4" ;;
  run/4) run "$2" "$3" "$4" ;;
  stop/2) finish TERM "$2" ;;
  kill/2) finish KILL "$2" ;;
  guard/2) guard "$2" ;;
  *) usage ;;
esac
