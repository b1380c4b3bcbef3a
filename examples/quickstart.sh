#!/usr/bin/env bash
# From a landing folder to a Delta table and back, in a minute. `make demo` builds sluice and runs this.
#
# Everything is made below ./demo, afresh each time. Needs Go (for the generator of records) and sluice on the PATH.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '\n# %s\n' "$*"; }
run() { printf '$ %s\n' "$*"; "$@"; }

rm -rf demo
mkdir -p demo/landing demo/next
echo '*' >demo/.gitignore

say "Make records: 100,000 in 10 files, with a bad one after every 25,000; and one more file for later"
go run ./internal/events/cmd/generate --seed 1 --records 100000 --files 10 --bad-every 25000 --step 3s --out demo/landing >demo/landing.json
go run ./internal/events/cmd/generate --seed 2 --records 5000 --step 3s --out demo/next >demo/next.json
ls demo/landing

say "Check the pipeline file, and see what a first batch would read"
run sluice validate examples/events.yaml

say "Read all that is there"
run sluice run examples/events.yaml

say "One more file arrives; the next run reads it and nothing else"
mv demo/next/events-00000.ndjson demo/landing/events-00010.ndjson
run sluice run examples/events.yaml

say "The table, and the bad records beside it"
run sluice table show demo/lake/events
run sluice table history demo/lake/events
run sluice table scan demo/lake/events_quarantine --columns source,position,column,reason

say "What the table's own log proves"
run sluice audit examples/events.yaml

say "A few rows"
run sluice table scan demo/lake/events --limit 3

say "The table is in demo/lake/events: any reader of Delta tables can open it"
