# Everything runs under a Node that is new enough: the machine's own, or one that is fetched once.
NODE_BIN := $(shell tools/node.sh)
ifeq ($(NODE_BIN),)
$(error there is no Node that is new enough, for the reason above)
endif
export PATH := $(NODE_BIN):$(PATH)

# `make demo KUBECONFIG=...` uses that cluster. One that merely is in the environment is left alone: it may be anything.
ifeq ($(origin KUBECONFIG),command line)
export PULUMI_ETCD_KUBECONFIG := $(abspath $(KUBECONFIG))
endif

.PHONY: help demo demo-down test test-full test-faults test-quick test-cold test-fetch lint format typecheck test-unit test-hosts simulate test-e2e cluster cluster-down build schema docs env

help: ## Show what there is to make.
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

demo: build ## Start a local Kubernetes and a three-member etcd with TLS on it.
	@node tools/demo.ts up

demo-down: ## Remove all that the demo has started.
	@node tools/demo.ts down

test: build ## Lint, type check, unit tests and the end-to-end suite; one closing line.
	@node tools/test.ts

lint: node_modules/.installed ## Lint and check the format.
	npx biome check .

format: node_modules/.installed ## Fix the format.
	npx biome check --write .

typecheck: build ## Check types, those of the tools too.
	npm run --silent typecheck

test-unit: build ## Unit tests: milliseconds, no cluster.
	@node tools/test.ts unit

test-fetch: build ## Fetch what every tool is made from as on a machine that has nothing; build none.
	@node tools/test.ts fetch

test-quick: build ## Lint, types and unit tests: what needs no cluster.
	@node tools/test.ts lint typecheck unit

test-cold: ## `make demo` and `make test-quick` in a fresh clone with every cache empty; writes docs/cold-start.md.
	@node tools/cold.ts

test-hosts: build ## Members on hosts of this machine, with SSH servers of their own.
	@node tools/test.ts hosts

simulate: build ## Run the engine in a simulated world, and write docs/simulation.md.
	@node tools/simulate.ts

test-e2e: build ## End-to-end suite on a real cluster.
	@node tools/test.ts e2e

cluster: ## Start the local Kubernetes alone.
	@node tools/cli.ts cluster up

cluster-down: ## End the local Kubernetes and remove it.
	@node tools/cli.ts cluster down

env: ## Print the variables that the local cluster is used with, for eval.
	@node tools/cli.ts cluster env | sed 's/^/export /'

build: node_modules/.installed ## Compile the package.
	@npm run --silent build

schema: build ## Write the JSON schema of the stack config.
	node dist/config/write-schema.js config/schema.json

docs: build ## Make the previews and the report of the cases of `make test` under docs/ anew.
	@UPDATE_DOCS=1 PULUMI_ETCD_E2E_REPORT=docs/operations.md node tools/test.ts e2e

test-full: build ## Every end-to-end case, the long ones too; previews and report go to docs/.
	@PULUMI_ETCD_E2E_FULL=1 UPDATE_DOCS=1 PULUMI_ETCD_E2E_REPORT=docs/operations.md node tools/test.ts hosts e2e

test-faults: build ## Every fault in the middle of an update: kills, lost pods and volumes, a stopped API server and more.
	@PULUMI_ETCD_E2E_FAULTS=1 PULUMI_ETCD_E2E_FAULTS_REPORT=docs/faults.md node tools/test.ts faults

node_modules/.installed: package.json package-lock.json
	@echo "installing npm packages"
	@npm ci --no-audit --no-fund --loglevel=error --ignore-scripts
	@touch $@
