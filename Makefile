# Talking Stick. `make` lists what there is.

GO       ?= go
TOOL     := $(GO) tool -modfile=tools.mod
FUZZTIME ?= 30s
CAMPAIGN ?= 30s
SYSTEMS  := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build ./tt and ./tt-full, as they are shipped: without symbols and debug information
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w" -o ./ ./cmd/tt-full ./cmd/tt

.PHONY: man
man: ## write the manual page of each command into dist/man
	$(GO) run ./internal/manpages dist/man

.PHONY: module
module: ## give the module the path of its repository, before it is published: make module PATH=github.com/owner/name
	@PATH=/usr/local/bin:/usr/bin:/bin .ci/module '$(PATH)'

.PHONY: release
release: ## build what users install into dist, from the last commit: archives, Debian packages, packages of npm, their sums
	$(GO) run ./internal/release -systems "$(SYSTEMS)"

.PHONY: test
test: ## the tests that need nothing but Go and git (a few minutes); the last lines say what is left to test-all
	.ci/untouched .ci/gotest -short -parallel 4 -timeout 20m ./...

.PHONY: test-all
test-all: deps-test ## every test: also in Chromium, with the real harnesses, on PostgreSQL, and all cases of each
	@.ci/all

.PHONY: tests-page
tests-page: ## write the table of docs/TESTS.md: what make test leaves to test-all
	left=$$(mktemp) && TT_TEST_LEFT=$$left .ci/gotest -short -parallel 4 -timeout 20m ./... && .ci/left page $$left; rm -f $$left

.PHONY: test-server-e2e
test-server-e2e: deps-test ## the real processes on PostgreSQL, which test-all leaves to ci-full
	.ci/untouched $(GO) test -short -count=1 -timeout 60m ./internal/e2e -database=postgres

.PHONY: test-scripts
test-scripts: deps-test ## all scripts of the command line with a process for each command, and all of them on PostgreSQL
	.ci/untouched $(GO) test -count=1 -timeout 60m ./internal/cli -run '^(TestScript|TestHintsWork|TestNextStepsWork)$$' -script.full
	.ci/untouched $(GO) test -count=1 -timeout 60m ./internal/cli -run '^TestScript$$' -script.full -database=postgres

.PHONY: test-race
test-race: deps-test ## the tests under the race detector, without real harnesses (needs a C compiler)
	CGO_ENABLED=1 TT_TEST_CROWDED=1 .ci/untouched $(GO) test -race -short -timeout 60m ./...

.PHONY: test-busy
test-busy: deps-test ## the tests beside eight busy processes, without real harnesses
	TT_TEST_CROWDED=1 .ci/busy .ci/untouched $(GO) test -short -count=1 -timeout 60m ./...

.PHONY: cover
cover: ## how much of the operations the tests of their own packages reach
	@.ci/cover

.PHONY: lint
lint: ## format, vet, staticcheck and dead code; vet for macOS and Windows
	@out="$$($(TOOL) gofumpt -l .)"; if [ -n "$$out" ]; then echo "not formatted (go tool -modfile=tools.mod gofumpt -w .):"; echo "$$out"; exit 1; fi
	$(GO) vet ./...
	$(TOOL) staticcheck ./...
	.ci/deadcode
	CGO_ENABLED=0 GOOS=darwin $(GO) vet ./...
	CGO_ENABLED=0 GOOS=windows $(GO) vet ./...

.PHONY: cross
cross: ## build for every system that there is a build for, as it is shipped
	@for s in $(SYSTEMS); do echo "build $$s"; CGO_ENABLED=0 GOOS=$${s%/*} GOARCH=$${s#*/} $(GO) build -trimpath -ldflags "-s -w" -o /dev/null ./cmd/... || exit 1; done

.PHONY: campaign
campaign: deps-test ## the long exploration of the rules, a million acts by the rules and by their model, a thousand random programs beside others' work, and the long campaigns of real processes (CAMPAIGN=30s)
	GOGC=400 $(GO) test ./stick ./stick/presence -run Explor -explore.long -timeout 2h -count=1 -v
	$(GO) test ./stick -run Differential -model.steps=1000000 -timeout 2h -count=1 -v
	$(GO) test ./stick/glob -run Overlap -glob.long -timeout 2h -count=1 -v
	$(GO) test ./internal/e2e -run Campaign -campaign.time=$(CAMPAIGN) -talk.agents=50 -talk.messages=200 -timeout 2h -count=1 -v
	$(GO) test ./internal/cli -run 'NothingIsLost|OrdinaryCommandsInOddTrees' -promise.all -promise.programs=1000 -timeout 2h -count=1 -v
	$(GO) test ./internal/e2e -run SimultaneousStarts -roster.sessions=200 -roster.crashes=50 -timeout 2h -count=1 -v

.PHONY: pairs
pairs: deps-test ## every pair of real harnesses hands the stick on, each way, and each plays all that any of them plays
	$(GO) test ./internal/e2e ./internal/e2e/realharness -pairs -timeout 120m -count=1 -v

.PHONY: fuzz
fuzz: ## fuzz every parser, each for FUZZTIME (30s)
	@GO="$(GO)" .ci/fuzz $(FUZZTIME)

.PHONY: mutate
mutate: ## change one thing in the rules and expect their tests to fail, for all that can be changed (MUTATE="-short -n 150")
	$(GO) run ./internal/mutate $(MUTATE)

.PHONY: bench
bench: ## measure, and print the table of docs/bench; AGAINST=<another tt> measures this one beside it
	$(GO) run ./internal/bench $(if $(AGAINST),-against $(AGAINST) -out docs/bench)

.PHONY: generate
generate: ## write what is generated: docs/reference, the diagrams of documents, the README's outputs and recordings
	$(GO) test ./internal/cli -run '^TestReference$$' -reference.update -count=1
	$(GO) test . -run '^(TestProtocolDiagrams|TestImportDiagram|TestReadme|TestReadmeHarnesses|TestRecordings)$$' -docs.update -count=1

.PHONY: docs
docs: ## build the site of these documents into dist/site, with search (needs npm; SITE_BASE=/path/ where it isn't at the top of its host)
	cd docs/site && npm ci --no-audit --no-fund && npx vitepress build

.PHONY: pictures
pictures: ## take the pictures of pages that documents show anew, with Chromium; their tests say when that is due
	$(GO) test ./internal/web -run '^TestPictures$$' -pictures.update -count=1

.PHONY: verify
verify: generate ## fail if what is generated isn't what is checked in
	@git diff --exit-code -- docs README.md || { echo "docs were out of date; they are generated now: commit them"; exit 1; }

.PHONY: deps-test
deps-test: ## install what the tests need on Debian (as root), else say what is missing
	@.ci/deps

.PHONY: ci-full
ci-full: ## what CI runs, then real processes on PostgreSQL, a busy machine, the race detector, fuzzing, mutants, the long campaigns, all pairs of harnesses, a release for all systems
	@.ci/full
