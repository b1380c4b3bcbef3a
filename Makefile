# make prints the targets. CI (.ci/run) runs these and nothing else.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

# The tools are pinned here and not in go.mod, so that the library's users do not get them as dependencies.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOFUMPT     := mvdan.cc/gofumpt@v0.12.0
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
VERSITYGW   := github.com/versity/versitygw/cmd/versitygw@v1.8.0
TOXIPROXY   := github.com/Shopify/toxiproxy/v2/cmd/server@v2.5.0

# Names of hosts and users are looked up in Go, with a C compiler and without one, in tests as in what is built, so that packages are compiled once for both.
TAGS           := -tags=netgo,osusergo
export GOFLAGS := $(filter-out $(TAGS),$(shell $(GO) env GOFLAGS)) $(TAGS)

# With a C compiler zstd is the C library, which is linked in; without one, and for other platforms, it is Go. Where the C library of the
# system can be linked statically (not on macOS), it is.
STATIC     = $(shell test "$$($(GO) env CGO_ENABLED)" = 1 && printf 'int main(void) { return 0; }' | $$($(GO) env CC) -static -x c - -o /dev/null 2>/dev/null && echo -linkmode external -extldflags -static)
LDFLAGS   := -s -w -X main.version=$(VERSION)
CROSS     := $(addprefix cross/,linux/amd64 linux/arm64 darwin/amd64 darwin/arm64)

# How long a test package may take, and how many inputs each fuzz target tries. With a duration (FUZZTIME=1h) instead of a number,
# Go before 1.27 can fail at its end with "context deadline exceeded", which is no find (go.dev/issue/75804).
TIMEOUT  ?= 45m
FUZZTIME ?= 3000x
FUZZED   := $(addprefix fuzz/,$(shell grep -rl --include='*_test.go' --exclude-dir=.cache '^func Fuzz' . | xargs -n 1 dirname | cut -c 3- | sort -u))

# How many tests of a package run at once: most wait for processes and servers.
PARALLEL ?= 6

# How long make chaos goes on with its faults, and the seed of its choices.
CHAOS ?= 1h
SEED  ?= $(shell date +%s)

# Records of the benchmark's largest input, rounds, a regular expression for the rows (none: all), further flags.
RECORDS ?= 3000000
ROUNDS  ?= 5
ROWS    ?=
BENCH   ?=

# What a machine cannot have is skipped with a message, but never in CI.
NOT_IN_CI := test "$$CI" != true

.DEFAULT_GOAL := help
.PHONY: help build demo test packages programs chaos bench profile readers kafka s3 lint fmt fuzz $(FUZZED) cross $(CROSS) vuln clean

help: ## print the targets
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/sluice
	$(GO) build -ldflags '$(LDFLAGS) $(STATIC)' -o bin/sluice ./cmd/sluice

demo: build ## build, then run a pipeline over a landing folder and show the table
	PATH="$(CURDIR)/bin:$$PATH" examples/quickstart.sh

test: readers kafka s3 ## all tests, with the race detector but for those of whole programs; installs what they need into .cache
	@$(MAKE) --no-print-directory -j2 packages programs

# The two halves of test. Most of what programs does is to wait, so that they go side by side.
packages:
	$(GO) test -race -parallel $(PARALLEL) -timeout $(TIMEOUT) $$($(GO) list ./... | grep -v internal/proof)
	CGO_ENABLED=0 $(GO) test -run 'Codec|Zstd|ForeignTables|DictionaryEnds|TenThousand|TargetSize|Pruning' ./table # zstd without C, and what takes long with -race
	$(GO) test -timeout $(TIMEOUT) -run 'WhereverTheProcessDies|WhereverTheNetworkFails|RecoveryDies|RequestsOfABatch' ./pipeline # every crash point and the longest log; with -race only some

programs:
	$(GO) test -parallel $(PARALLEL) -timeout $(TIMEOUT) ./internal/proof # what it tests are programs, which have no race detector

chaos: readers kafka s3 ## every fault against the real program and real servers, for CHAOS (1h), by SEED; SLUICE_SPARK=1 has Spark at work beside it as well
	@echo "make chaos CHAOS=$(CHAOS) SEED=$(SEED)"
	SLUICE_CHAOS=$(CHAOS) SLUICE_MODEL_SEED=$(SEED) $(GO) test -count=1 -timeout 24h ./internal/model
	SLUICE_CHAOS=$(CHAOS) SLUICE_PROOF_SEED=$(SEED) $(GO) test -v -count=1 -timeout 24h ./internal/proof

bench: build readers kafka ## measure Sluice beside others: ROWS of RECORDS in ROUNDS; BENCH='-into docs/performance.md' writes the results there
	$(GO) run ./bench -sluice bin/sluice -records $(RECORDS) -rounds $(ROUNDS) -rows '$(ROWS)' $(BENCH)

profile: build readers ## where the processor's time goes in a run over RECORDS records
	$(GO) run ./bench -sluice bin/sluice -records $(RECORDS) -profile bin/cpu.prof
	$(GO) tool pprof -top -nodecount 40 bin/cpu.prof

readers: ## install the foreign Delta readers that tests ask (Python; Java and Maven for Spark)
	@testdata/readers/install.sh chdb polars spark >/dev/null || { $(NOT_IN_CI) && echo "the tests that ask a foreign reader which is missing will be skipped"; }

kafka: ## install the Kafka broker that tests start (Java, Maven)
	@{ command -v java && command -v mvn && testdata/kafka/kafka.sh install .cache/kafka; } >/dev/null \
	|| { $(NOT_IN_CI) && echo "no Kafka (it takes java and mvn): the tests that need a broker will be skipped"; }

s3: ## install the S3 server that tests start (some minutes), and the proxy that goes before it
	@{ GOBIN=$(CURDIR)/.cache/bin $(GO) install $(VERSITYGW) && GOBIN=$(CURDIR)/.cache/toxiproxy $(GO) install $(TOXIPROXY); } \
	|| { $(NOT_IN_CI) && echo "the tests that need an S3 server or a proxy will be skipped"; }

lint: ## gofumpt, vet, staticcheck
	@unformatted=$$($(GO) run $(GOFUMPT) -l .) || exit 1; \
	test -z "$$unformatted" || { echo "not in gofumpt's form; run make fmt:"; echo "$$unformatted"; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

fmt: ## format the code
	$(GO) run $(GOFUMPT) -w .

fuzz: $(FUZZED) ## run each fuzz target on FUZZTIME inputs (3000x), or for a time (1h)
	@test -n '$(FUZZED)' || { echo "no fuzz targets"; exit 1; }

$(FUZZED): fuzz/%:
	@set -e; program=$(CURDIR)/.cache/fuzz/$*.test; mkdir -p $$(dirname $$program); \
	$(GO) test -fuzz . -c -o $$program ./$*; \
	cd $*; for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' *_test.go); do \
		echo "fuzz $* $$target $(FUZZTIME)"; \
		$$program -test.run '^$$' -test.fuzz "^$$target\$$" -test.fuzztime $(FUZZTIME) -test.fuzzcachedir $$($(GO) env GOCACHE)/fuzz/$*/$$target; \
	done

cross: $(CROSS) ## build for every platform

$(CROSS): cross/%:
	GOOS=$(*D) GOARCH=$(*F) CGO_ENABLED=0 $(GO) build -ldflags '$(LDFLAGS)' -o bin/sluice-$(*D)-$(*F) ./cmd/sluice

vuln: ## look for known vulnerabilities in what is built
	@$(GO) run $(GOVULNCHECK) -version >/dev/null
	@report=$$($(GO) run $(GOVULNCHECK) ./... 2>&1) && echo "$$report" || { \
		echo "$$report"; \
		echo "$$report" | grep -q 'fetching vulnerabilities' || exit 1; \
		echo "the vulnerability database cannot be reached from here: not checked"; }

clean: ## remove what was built; .cache stays
	rm -rf bin
