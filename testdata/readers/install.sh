#!/usr/bin/env bash
# Foreign Delta Lake readers for the tests and the benchmark: a Python virtual environment, in .cache/readers/venv of the repository.
#
#   install.sh [chdb] [polars] [spark]           delta-rs and DuckDB always, ClickHouse, Polars and Spark when asked for
#   install.sh --check [chdb] [polars] [spark]   installs nothing; exit status 4 when something of it is missing
#
# Spark, with its source for Kafka, needs Java 17 or newer and, to install, Maven. Prints the path of the interpreter. Idempotent: does nothing when what is asked for is there;
# several at once wait for one another. Exit status 3 when this machine lacks Python 3.10 or newer with venv and pip, or for Spark those; 1 when an install failed.
set -euo pipefail

# The pins move together: a DuckDB extension is built for one DuckDB, delta-spark for one Spark.
BASE="deltalake==1.6.6 pyarrow==26.0.1 numpy>=2.2,<3 duckdb==1.5.5 duckdb-extension-delta==1.5.5"
CHDB="chdb==4.4.0"
POLARS="polars==2.1.0"
SPARK="pyspark==4.2.0"
SPARK_JARS="io.delta:delta-spark_2.13:4.4.0 org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0" # built for this Spark
ARTIFACTS=delta-spark_2.13,delta-storage,delta-kernel-api,delta-kernel-defaults,delta-kernel-unitycatalog,unitycatalog-client,unitycatalog-hadoop,jackson-datatype-jdk8,spark-sql-kafka-0-10_2.13,spark-token-provider-kafka-0-10_2.13,kafka-clients,commons-pool2
MAVEN_DEPENDENCY=org.apache.maven.plugins:maven-dependency-plugin:3.11.0

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
dir=$PWD/.cache/readers
python=$dir/venv/bin/python

check=
if [ "${1:-}" = --check ]; then
  check=yes
  shift
fi
packages=$BASE
jars=
for engine in "$@"; do
  case $engine in
    chdb) packages="$packages $CHDB" ;;
    polars) packages="$packages $POLARS" ;;
    spark) packages="$packages $SPARK" jars=$SPARK_JARS ;;
    *) echo "install.sh: no such reader: $engine; give chdb, polars or spark, or nothing" >&2; exit 2 ;;
  esac
done

installed() {
  local pin
  [ -x "$python" ] && [ -f "$dir/installed" ] || return 1
  for pin in $packages $jars; do
    grep -qxF "$pin" "$dir/installed" || return 1
  done
}

# lock waits for the lock on an open file that this shell, and so the lock, keeps until it ends in whatever way.
lock() {
  exec 9>"$dir/install.lock"
  python3 -c 'import fcntl; fcntl.flock(9, fcntl.LOCK_EX)'
}

suitable() {
  python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null
}

suitable_for_spark() {
  local version
  version=$(java -XshowSettings:properties -version 2>&1 | sed -n 's/.*java.specification.version = //p')
  [ "${version%%.*}" -ge 17 ] 2>/dev/null && command -v mvn >/dev/null
}

# install_jars fetches what pyspark does not bring, into jars beside the virtual environment.
install_jars() {
  local pom jar group artifact version dependencies=
  for jar in $jars; do
    IFS=: read -r group artifact version <<<"$jar"
    dependencies="$dependencies<dependency><groupId>$group</groupId><artifactId>$artifact</artifactId><version>$version</version></dependency>"
  done
  pom=$(mktemp -d)
  cat >"$pom/pom.xml" <<XML
<project><modelVersion>4.0.0</modelVersion>
<groupId>local</groupId><artifactId>jars</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>$dependencies</dependencies>
</project>
XML
  mvn -q -B -f "$pom/pom.xml" "$MAVEN_DEPENDENCY:copy-dependencies" -DincludeScope=runtime -DincludeArtifactIds="$ARTIFACTS" \
    -DoutputDirectory="$dir/jars" || return
  rm -rf "$pom"
}

# install fails with its first failing step; the shell does not see to that where a status is asked for.
install() {
  if [ ! -x "$python" ]; then
    rm -rf "$dir/venv"
    python3 -m venv "$dir/venv" || return
  fi
  # shellcheck disable=SC2086
  "$python" -m pip install --quiet --disable-pip-version-check --no-input $packages || return
  [ -z "$jars" ] || install_jars || return
  touch "$dir/installed"
  # shellcheck disable=SC2086
  printf '%s\n' $packages $jars | sort -u - "$dir/installed" >"$dir/installed.new"
  mv "$dir/installed.new" "$dir/installed"
}

if ! installed; then
  [ -z "$check" ] || { echo "install.sh: not all of $packages $jars is in $dir" >&2; exit 4; }
  suitable || { echo "install.sh: no Python 3.10 or newer with venv and pip here; install python3 and python3-venv" >&2; exit 3; }
  [ -z "$jars" ] || suitable_for_spark || { echo "install.sh: no Java 17 or newer and Maven here, which Spark takes" >&2; exit 3; }
  mkdir -p "$dir"
  lock
  if ! installed; then
    echo "install.sh: installing $packages $jars into $dir/venv" >&2
    install >&2 || { echo "install.sh: install failed; check the network, or delete $dir and try again" >&2; exit 1; }
  fi
fi
echo "$python"
