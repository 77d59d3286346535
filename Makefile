# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# UNCHECKED=1 releases without asking for vulnerabilities, under a version that image-push refuses.
UNCHECKED ?=
UNCHECKED_FLAG = $(if $(UNCHECKED),$(if $(filter 1,$(UNCHECKED)),--unchecked,$(error UNCHECKED is "$(UNCHECKED)", want 1 or nothing)))
VULNDB ?= https://vuln.go.dev
# What our programs say of themselves. The date is the commit's and not the build's, so that one commit gives the same bytes.
VERSION ?= $(shell git describe --tags --always --dirty)
COMMIT ?= $(shell git rev-parse HEAD)
COMMIT_DATE ?= $(shell TZ=UTC git show --no-patch --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd HEAD)
RELEASED = $(patsubst %-unchecked,%,$(VERSION))$(if $(or $(UNCHECKED),$(filter %-unchecked,$(VERSION))),-unchecked)
STAMP = -X statefulset.dev/version.version=$(RELEASED) -X statefulset.dev/version.commit=$(COMMIT) -X statefulset.dev/version.date=$(COMMIT_DATE)

comma := ,
# The local cluster's programs are built with these flags, too, and of the same versions of what they share with ours, so that a
# package is compiled once. The linker leaves debug information out, so none is made; compilers that collect garbage seldom take
# less of the processors, and more memory.
GO_FLAGS := -trimpath -gcflags=all=-dwarf=false
GO_BUILD := CGO_ENABLED=0 GOGC=400 go build $(GO_FLAGS)
GOLANGCI_LINT := go tool -modfile=$(CURDIR)/go.tools.mod golangci-lint

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  %-20s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

NODES ?= fake
DEMO = $(or $(DEMO_$(NODES)),$(error NODES is $(NODES), want fake or real))
DEMO_fake = build
DEMO_real = build images bin/helm
.PHONY: demo
demo: $(DEMO) ## Start a local cluster, register the server, and follow the example set through its life (NODES=real: three nodes that run its processes; needs root)
	@hack/demo$(if $(filter real,$(NODES)),-nodes).sh

.PHONY: demo-etcd
demo-etcd: build images ## Run an etcd cluster as a set on three real nodes, write to it while everything changes, and count what is lost; needs root
	@hack/demo-etcd.sh

.PHONY: demo-down
demo-down: bin/cluster ## Stop the demo's clusters; their data stays for the next start
	@bin/cluster down --dir .cluster
	@bin/cluster down --dir .cluster-nodes

.PHONY: build
build: bin/statefulset-apiserver bin/kubectl-sts bin/cluster ## Build bin/statefulset-apiserver, bin/kubectl-sts and bin/cluster

# go build decides what is stale, so these always run.
.PHONY: bin/statefulset-apiserver
bin/statefulset-apiserver:
	@$(GO_BUILD) -ldflags="-s -w $(STAMP)" -o $@ ./cmd/statefulset-apiserver

.PHONY: bin/kubectl-sts
bin/kubectl-sts:
	@$(GO_BUILD) -ldflags="-s -w $(STAMP)" -o $@ ./cmd/kubectl-sts

.PHONY: bin/cluster
bin/cluster:
	@cd test/cluster && $(GO_BUILD) -ldflags="-s -w" -o ../../$@ .

.PHONY: bin/release
bin/release:
	@cd hack/release && $(GO_BUILD) -ldflags="-s -w" -o ../../$@ .

# A driver of disks for tests on real nodes, with the provisioner and the resizer of Kubernetes.
.PHONY: bin/disks
bin/disks:
	@cd test/disks && $(GO_BUILD) -ldflags="-s -w" -o ../../bin/ . \
	  github.com/kubernetes-csi/external-provisioner/v6/cmd/csi-provisioner github.com/kubernetes-csi/external-resizer/v2/cmd/csi-resizer

# Installs the chart in tests; its version is pinned by the module that renders the chart.
.PHONY: bin/helm
bin/helm:
	@cd hack/chart && $(GO_BUILD) -ldflags="-s -w" -o ../../$@ helm.sh/helm/v4/cmd/helm

ARCH ?= $(shell go env GOARCH)
IMAGES_DIR ?= bin/images
.PHONY: images
images: bin/release ## Write the images of the server and of what real nodes need to bin/images, without a container engine (ARCH=amd64,arm64; IMAGES="zookeeper galera" picks some, also those that are optional)
	@hack/node-packages.sh
	@bin/release images --out "$(IMAGES_DIR)" --arch "$(ARCH)" --stamp '$(STAMP)' --created "$(COMMIT_DATE)" $(IMAGES)

REGISTRY ?=
.PHONY: image-push
image-push: bin/release ## Push the images of server and plugin for amd64 and arm64 to REGISTRY/statefulset-apiserver:VERSION and REGISTRY/kubectl-sts:VERSION
	@bin/release push --registry "$(or $(REGISTRY),$(error REGISTRY is not set))" --tag "$(RELEASED)" --digests "dist/$(RELEASED)/IMAGE-DIGESTS" --stamp '$(STAMP)' --created "$(COMMIT_DATE)"

RELEASE_REGISTRY ?= registry.statefulset.dev
DOWNLOADS ?= https://statefulset.dev/releases/$(RELEASED)
SIGNING_KEY ?=
.PHONY: release
release: bin/release ## Write all that a release has to dist/VERSION (SIGNING_KEY signs it; RELEASE_REGISTRY and DOWNLOADS are where users get it from; VULNDB=file:///DIRECTORY is a local copy of the vulnerabilities, and UNCHECKED=1 does not ask for them)
	@bin/release all --out "dist/$(RELEASED)" --version "$(RELEASED)" $(UNCHECKED_FLAG) --vulndb "$(VULNDB)" --stamp '$(STAMP)' --created "$(COMMIT_DATE)" \
	  --registry "$(RELEASE_REGISTRY)" --downloads "$(DOWNLOADS)" --signing-key "$(SIGNING_KEY)"

.PHONY: image-load
image-load: images bin/cluster ## Load the images into the real nodes of the demo's cluster
	@bin/cluster image-load --dir .cluster-nodes --images bin/images

# What the linker is told; a test compares it with what a program then says.
.PHONY: stamp
stamp:
	@echo '$(STAMP)'

.PHONY: generate
generate: ## Write every generated file
	@hack/generate.sh

.PHONY: verify
verify: ## Check everything that needs no running cluster: generated files, modules, format, vet, lint, import rules
	@hack/verify.sh

.PHONY: lint
lint: ## Run golangci-lint over all modules
	@$(GOLANGCI_LINT) run ./...
	@cd api && $(GOLANGCI_LINT) run ./...
	@cd client && $(GOLANGCI_LINT) run ./...
	@cd test/cluster && $(GOLANGCI_LINT) run ./...
	@cd test/disks && $(GOLANGCI_LINT) run ./...
	@cd test/gitops && $(GOLANGCI_LINT) run ./...
	@cd hack/release && $(GOLANGCI_LINT) run ./...
	@cd hack/chart && $(GOLANGCI_LINT) run ./...
	@cd hack/sdk && $(GOLANGCI_LINT) run ./...

PARTS ?=
.PHONY: test
test: build bin/helm ## Run what every change has to pass: tests without a cluster, and suites on local clusters, some in short (PARTS picks parts)
	@hack/test.sh $(PARTS)

# Nested modules with tests that need no cluster. make verify walks all modules.
TESTED_MODULES := api client test/cluster test/gitops hack/release hack/chart hack/sdk
.PHONY: test-unit
test-unit: ## Run the tests that need no cluster
	@go test -timeout=30m ./... # the planner's mutants take minutes
	@for m in $(TESTED_MODULES); do (cd $$m && go test ./...) || exit 1; done

.PHONY: test-e2e
test-e2e: build ## Run the end-to-end tests on a local cluster in .cluster-e2e, which is removed afterwards
	@hack/test-on-cluster.sh e2e

SEQUENCES ?= 100000
SEED ?= 0
.PHONY: test-planner
test-planner: ## Play SEQUENCES (100000) random sequences of events to the planner, new ones unless SEED is given, and check its invariants at every step; as many again whose outcomes are judged; then see that both find every mutant
	@SEED=$(SEED) SEQUENCES=$(SEQUENCES) go test -v -count=1 -timeout=180m -run='^(TestRandomSequences|TestOutcomes)$$' ./controller/plan
	@go test -count=1 -timeout=60m -run='^TestMutantsAreFound' ./controller/plan

.PHONY: test-planner-themes
test-planner-themes: ## Play half as many, each of which is about a few features that meet: updates in place and partitions, objects and what they go with
	@SEED=$(SEED) SEQUENCES=$(SEQUENCES) go test -v -count=1 -timeout=180m -run='^TestRandomSequencesOfThemes$$' ./controller/plan

.PHONY: test-differential
test-differential: build ## Play the same scenarios on the built-in StatefulSet and on ours, and compare
	@hack/test-on-cluster.sh differential

.PHONY: test-validation
test-validation: build ## Give the same manifests to the built-in StatefulSet and to ours, and compare the answers
	@hack/test-on-cluster.sh validation

.PHONY: test-kubectl
test-kubectl: build ## Run every kubectl verb on the built-in StatefulSet and on ours and compare; break a cluster for the doctor
	@hack/test-on-cluster.sh kubectl
	@hack/test-on-cluster.sh kubectl/doctor

.PHONY: test-gitops
test-gitops: build ## Have kustomize, Helm, Argo CD, Flux and kubectl merge and compare the built-in StatefulSet and ours (KUSTOMIZE_COMPONENT=URL is the component's)
	@cd test/gitops && go test -count=1 ./...
	@cd test/gitops && go test -count=1 -modfile=kubectl-1.34.mod ./kustomize
	@hack/test-on-cluster.sh gitops

PAGE ?=
FILL ?=
.PHONY: test-docs
test-docs: build ## Run the commands of README.md and of the pages below docs on a local cluster, and on real nodes where they need some, and compare what they print (PAGE=rollouts picks one)
	@hack/test-on-cluster.sh docs -test.v $(if $(PAGE),-test.run='^TestPages(Alone)?$$/^$(PAGE)$$') $(if $(FILL),-fill)
	@$(if $(PAGE),grep -qs '^ *```console nodes' $(PAGE).md docs/$(PAGE).md || exit 0; )hack/test-docs-nodes.sh -test.v $(if $(PAGE),-test.run='^TestPagesOnNodes$$/^$(PAGE)$$') $(if $(FILL),-fill)

.PHONY: docs
docs: ## Make the documentation site in dist/site, from the pages of this repository and from the code; needs Node 20
	@GO_FLAGS="$(GO_FLAGS)" hack/docs.sh

.PHONY: test-migrate
test-migrate: build ## Move sets from apps/v1 and back in every state, interrupted at every step
	@hack/test-on-cluster.sh migrate

.PHONY: test-uninstall
test-uninstall: build ## Take an installation apart in wrong orders and in the right one, and look that no pod is lost
	@hack/test-on-cluster.sh uninstall

.PHONY: test-nodes
test-nodes: images test-nodes-quick test-nodes-mixed test-install ## On three real nodes, play what only these show with both kinds: probes, slow ends, lost nodes, evictions, kubectl; needs root
	@hack/test-nodes.sh

.PHONY: test-install
test-install: build images bin/helm ## On three real nodes, install the server in all ways, and change between them while a set runs; needs root
	@hack/test-install.sh

.PHONY: test-nodes-quick
test-nodes-quick: build ## Install the server on a real node, run members, cut the power, and uninstall; needs root
	@hack/test-nodes-quick.sh

.PHONY: test-nodes-mixed
test-nodes-mixed: build images ## On one real node and three fake ones, run members that are processes beside a thousand that are not; needs root
	@hack/test-nodes-mixed.sh

PREVIOUS ?=
.PHONY: test-upgrade
test-upgrade: build ## Replace servers of an earlier version (PREVIOUS=tag or commit) by these and back, under load, and look that nothing is lost
	@PREVIOUS="$(PREVIOUS)" hack/test-upgrade.sh

HOSTS ?= 1.34 1.35 1.36 1.37
HOST_SUITES ?= $(SUITES)
.PHONY: test-hosts
test-hosts: build ## Run suites on clusters of each Kubernetes version in HOSTS, and upgrade one from the first to the last (HOST_SUITES picks suites)
	@HOSTS="$(HOSTS)" hack/test-hosts.sh $(HOST_SUITES)

LANGUAGES ?=
.PHONY: sdk
sdk: ## Make the clients for TypeScript, Python and Java in dist/sdk from the published document (LANGUAGES=python,java picks some)
	@VERSION="$(VERSION)" hack/sdk.sh $(subst $(comma), ,$(LANGUAGES))

.PHONY: test-sdk
test-sdk: build sdk ## Play 14 scenarios with the clients of four languages on a local cluster, run their examples, and print a table
	@LANGUAGES="$(LANGUAGES)" hack/test-on-cluster.sh sdk

FAULT_SUITES ?= $(SUITES)
.PHONY: test-faults
test-faults: build bin/helm ## Crash, cut, delay, corrupt and overload everything, and print what was found (FAULT_SUITES picks suites)
	@hack/test-faults.sh $(FAULT_SUITES)

KILLS ?= 100
# The last commit whose store had one authority for members and servers.
ONE_AUTHORITY = acfa42f
.PHONY: test-store
test-store: build ## Kill, wipe, swap, fill and cut members of a store of ours KILLS (100) times each under load, and look that no acknowledged write is lost
	@PREVIOUS_SERVER=$$(hack/earlier-server.sh $(ONE_AUTHORITY)) && export PREVIOUS_SERVER && \
	KILLS="$(KILLS)" SUITE_TIMEOUT=4h hack/test-on-cluster.sh faults/store -test.run='Of(The)?Store'

PATHS ?= 5000
.PHONY: test-security
test-security: build ## Run the tests behind every item of the security list, and print a row for each (PATHS=100000 looks longer for redirects)
	@PATHS=$(PATHS) hack/test-security.sh

EXECS ?= 1000000
.PHONY: test-fuzz
test-fuzz: ## Run every fuzz target EXECS (1000000) times
	@EXECS=$(EXECS) hack/fuzz.sh

CASE ?=
ROUNDS ?= 3
SCALE ?= 1
BENCH_RESULTS = $(CURDIR)/test/bench/results.json
RUN_BENCH = CASE="$(CASE)" ROUNDS="$(ROUNDS)" SCALE="$(SCALE)" COMMIT="$$(git describe --always)$$(git diff --quiet HEAD -- ':!test/bench/results.json' || echo -dirty)" MEASURED="$$(hack/measured.sh)" SUITE_TIMEOUT=6h hack/test-on-cluster.sh bench -test.run='^TestBench$$'
.PHONY: bench
bench: build ## Measure ours beside the built-in StatefulSet on a local cluster (CASE=parallel,ordered picks cases, and keeps the results of the others; ROUNDS=5; SCALE=0.1 for smaller sizes)
	@BENCH_RESULTS="$(BENCH_RESULTS)" $(RUN_BENCH)

.PHONY: bench-earlier
bench-earlier: build ## Measure ours beside the server of an earlier commit (EARLIER=v1.2.3 CASE=update,quiet; ROUNDS and SCALE as for bench), and keep no results
	@: $(or $(EARLIER),$(error EARLIER is empty: name a commit or a tag)) $(or $(CASE),$(error CASE is empty: name cases of make bench))
	@server=$$(hack/earlier-server.sh "$(EARLIER)") && EARLIER_SERVER="$$server" $(RUN_BENCH)

.PHONY: bench-page
bench-page: ## Write the last run of make bench into docs/policy/performance-log.md
	@go run ./test/bench/page "$(BENCH_RESULTS)" docs/policy/performance-log.md

.PHONY: bench-go
bench-go: ## Run the Go benchmarks of single packages
	@go test -run='^$$' -bench=. -benchmem ./...

.PHONY: clean
clean: bin/cluster ## Stop the local clusters, and delete their data and bin
	@for dir in .cluster .cluster-*; do [[ $$dir == *-logs || ! -d $$dir ]] || bin/cluster down --dir "$$dir" --purge; done
	@rm -rf bin dist .cluster-*-logs .faults-table.jsonl
