#!/usr/bin/env bash
# Foreign Delta Lake readers for the tests: a Python virtual environment, in .cache/readers/venv of the repository.
#
#   install.sh [chdb] [spark]     delta-rs and DuckDB always, ClickHouse and Spark when asked for
#
# Prints the path of the interpreter. Idempotent: does nothing when what is asked for is there; several at once wait for
# one another. Exit status 3 when this machine lacks Python 3.10 or newer with venv and pip, 1 when an install failed.
set -euo pipefail

# The pins move together: a DuckDB extension is built for one DuckDB, delta-spark for one Spark.
BASE="deltalake==1.6.6 pyarrow==26.0.1 numpy>=2.2,<3 duckdb==1.5.5 duckdb-extension-delta==1.5.5"
CHDB="chdb==4.4.0"
SPARK="pyspark==4.2.0 delta-spark==4.4.0"

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
dir=$PWD/.cache/readers
python=$dir/venv/bin/python

wanted=$BASE
for engine in "$@"; do
  case $engine in
    chdb) wanted="$wanted $CHDB" ;;
    spark) wanted="$wanted $SPARK" ;;
    *) echo "install.sh: no such reader: $engine; give chdb or spark, or nothing" >&2; exit 2 ;;
  esac
done

installed() {
  local pin
  [ -x "$python" ] && [ -f "$dir/installed" ] || return 1
  for pin in $wanted; do
    grep -qxF "$pin" "$dir/installed" || return 1
  done
}

# lock: a folder is made by one process only. It holds the owner's id, so that a dead owner's lock can be told.
lock() {
  local owner
  until mkdir "$dir/lock" 2>/dev/null; do
    owner=$(cat "$dir/lock/owner" 2>/dev/null || true)
    if [ -n "$owner" ] && ! kill -0 "$owner" 2>/dev/null; then
      rm -rf "$dir/lock"
      continue
    fi
    sleep 1
  done
  echo $$ >"$dir/lock/owner"
  trap 'rm -rf "$dir/lock"' EXIT
}

suitable() {
  python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null
}

install() {
  if [ ! -x "$python" ]; then
    rm -rf "$dir/venv"
    python3 -m venv "$dir/venv"
  fi
  # shellcheck disable=SC2086
  "$python" -m pip install --quiet --disable-pip-version-check --no-input $wanted
  touch "$dir/installed"
  # shellcheck disable=SC2086
  printf '%s\n' $wanted | sort -u - "$dir/installed" >"$dir/installed.new"
  mv "$dir/installed.new" "$dir/installed"
}

if ! installed; then
  suitable || { echo "install.sh: no Python 3.10 or newer with venv and pip here; install python3 and python3-venv" >&2; exit 3; }
  mkdir -p "$dir"
  lock
  if ! installed; then
    echo "install.sh: installing $wanted into $dir/venv" >&2
    install >&2 || { echo "install.sh: install failed; check the network, or delete $dir and try again" >&2; exit 1; }
  fi
fi
echo "$python"
