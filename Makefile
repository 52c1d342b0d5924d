# Two commands matter: `make demo` and `make test`. Everything else is `make help`.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup demo install static dist reproduce test lint check bench fuzz deep docs clean

OUT ?= out/demo
ARGS ?=
PREFIX ?= $(HOME)/.local
CARGO ?= cargo
# rustup's place, for shells that were open before it was installed.
export PATH := $(PATH):$(HOME)/.cargo/bin

target_dir := $(abspath $(or $(CARGO_TARGET_DIR),target))
sealion := $(target_dir)/release/sealion
build_release := $(CARGO) build --release --locked -p cli
# Everything that tests need is built once, in one profile (Cargo.toml says why): libraries, test programs, sealion itself.
ci_bin := $(target_dir)/ci/sealion
# As scripts/setup.sh puts them.
own_tools := $(or $(SEALION_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/sealion)/tools
static_sealion := $(target_dir)/$(shell uname -m)-unknown-linux-musl/dist/sealion
# Servers are waited for more than they are busy.
TEST_THREADS ?= 4
host_triple := $(shell PATH="$(PATH)" rustc -vV 2>/dev/null | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')
test_all := RUST_TEST_THREADS=$(TEST_THREADS) SEALION_BIN="$(ci_bin)" $(CARGO) test --profile ci --locked
# With --system the installed servers are used and nothing is fetched.
servers := $(if $(filter --system,$(ARGS)),,servers)

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo 'OUT=DIR (report of demo), ARGS="--full" (options of sealion demo) and CARGO_TARGET_DIR are respected.'

setup: ## build packages, servers (into the cache, no root), browser for the report test
	@scripts/setup.sh all

demo: ## a real Galera cluster from cleartext to proven TLS, with a report
	@scripts/setup.sh build
	@setup=; $(if $(servers),scripts/setup.sh $(servers) & setup=$$!;) \
	failed=; $(CARGO) build --profile ci --locked -p cli || failed=1; \
	wait $$setup && [ -z "$$failed" ]
	@"$(ci_bin)" demo --out "$(OUT)" $(ARGS)
	@echo "report: $(abspath $(OUT))/report.html"

install: ## the binary, man pages and completions into PREFIX (~/.local)
	@scripts/setup.sh build
	@$(build_release)
	@install -Dm755 "$(sealion)" "$(PREFIX)/bin/sealion"
	@install -d "$(PREFIX)/share/man/man1" && install -m644 docs/man/*.1 "$(PREFIX)/share/man/man1/"
	@install -Dm644 docs/completions/sealion.bash "$(PREFIX)/share/bash-completion/completions/sealion"
	@install -Dm644 docs/completions/_sealion "$(PREFIX)/share/zsh/site-functions/_sealion"
	@install -Dm644 docs/completions/sealion.fish "$(PREFIX)/share/fish/vendor_completions.d/sealion.fish"
	@echo "$(PREFIX)/bin/sealion"

static: ## one static binary that runs on any Linux of this processor (musl)
	@scripts/setup.sh build static
	@scripts/build-static.sh "$(target_dir)"
	@echo "$(static_sealion)"

dist: static ## .deb, .rpm, tarball, image, list of contents, sums (signed with MINISIGN_KEY=FILE), into dist/; nothing is enabled or started
	@scripts/setup.sh packages
	@scripts/package.sh "$(static_sealion)" dist

reproduce: ## make dist twice, in two directories, and compare every byte (half an hour on two cores)
	@scripts/reproduce.sh

test: ## every test, on real servers
	@scripts/setup.sh build
	@scripts/setup.sh all & setup=$$!; \
	failed=; $(CARGO) build --profile ci --locked -p cli && $(test_all) --workspace --no-run || failed=1; \
	wait $$setup && [ -z "$$failed" ]
	@mkdir -p "$(target_dir)"; rest_log="$(target_dir)/tests-of-the-rest.log"; lab_log="$(target_dir)/tests-of-the-testbed.log"; \
	export CARGO_TARGET_$(host_triple)_RUNNER="$(CURDIR)/scripts/part-of-tests.sh"; \
	SEALION_TESTS=rest $(test_all) --workspace --no-fail-fast > "$$rest_log" 2>&1 & rest=$$!; \
	failed=; SEALION_TESTS=testbed $(test_all) --workspace 2>&1 | tee "$$lab_log" || failed=1; \
	wait $$rest || failed=1; cat "$$rest_log"; \
	[ -z "$$failed" ] || { scripts/why-tests-failed.sh "$$lab_log" "$$rest_log"; false; }

lint: ## formatting and clippy
	@scripts/setup.sh build
	@$(CARGO) fmt --all --check
	@$(CARGO) clippy --profile ci --workspace --all-targets --locked -- -D warnings

check: lint ## formatting, lints, unit tests, licences; no server
	@$(CARGO) test --profile ci --workspace --lib --bins --locked
	@scripts/setup.sh licences
	@PATH="$$PATH:$(own_tools)/bin" $(CARGO) deny check bans licenses sources

bench: ## the demo once more, with what TLS cost (descriptive, no causal claim); scan and load beside other tools
	@scripts/setup.sh build tools $(servers)
	@$(build_release)
	@$(sealion) demo --out out/bench $(ARGS)
	@if command -v python3 >/dev/null; then \
	    python3 -c 'import json; print(json.dumps(json.load(open("out/bench/report.json"))["price"], indent=2))'; \
	else \
	    grep -A 60 '"price"' out/bench/report.json; \
	fi
	@$(CARGO) build --release --locked -p scan --example farm
	@scripts/bench-scan.sh "$(sealion)" "$(target_dir)/release/examples/farm" docs/benchmarks.md
	@$(CARGO) build --release --locked -p bench --example ratio
	@scripts/bench-load.sh "$(sealion)" "$(target_dir)/release/examples/ratio" docs/benchmarks.md
	@scripts/bench-storm.sh "$(sealion)" "$(target_dir)/release/examples/ratio" docs/benchmarks.md
	@scripts/bench-agree.sh "$(sealion)" "$(target_dir)/release/examples/ratio" docs/benchmarks.md
	@scripts/bench-aa.sh "$(sealion)" "$(target_dir)/release/examples/ratio" docs/benchmarks.md
	@scripts/bench-stream.sh "$(sealion)" "$(target_dir)/release/examples/ratio" docs/benchmarks.md
	@$(CARGO) build --release --locked -p stream --features clear --examples
	@scripts/bench-migrate.sh "$(sealion)" "$(target_dir)/release/examples/ratio" docs/benchmarks.md
	@scripts/bench-sst.sh "$(sealion)" "$(target_dir)/release/examples/ratio" docs/benchmarks.md
	@scripts/bench-audit.sh "$(sealion)" docs/benchmarks.md
	@$(CARGO) build --release --locked -p host --example search
	@scripts/bench-search.sh "$(target_dir)/release/examples/search" "$(target_dir)/release/examples/ratio" docs/benchmarks.md
	@scripts/bench-disk.sh "$(sealion)" "$(target_dir)/release/examples/ratio" docs/benchmarks.md
	@$(CARGO) build --release --locked -p bench --example waits
	@scripts/bench-rest.sh "$(sealion)" "$(target_dir)/release/examples/waits" docs/benchmarks.md
	@if command -v age >/dev/null; then \
	    scripts/bench-share.sh "$(sealion)" "$(target_dir)/release/examples/ratio" docs/benchmarks.md; \
	else \
	    echo "share is not measured: the program age is missing (Debian: apt-get install age)"; \
	fi

fuzz: ## a minute of noise for each parser (scripts/fuzz.sh takes seconds and names)
	@scripts/fuzz.sh

deep: ## the long tests as well (hours)
	@scripts/setup.sh all drivers
	@$(CARGO) build --profile ci --locked -p cli
	@SEALION_DEEP=1 $(test_all) --workspace
	@$(MAKE) dist
	@SEALION_BIN="$(static_sealion)" $(CARGO) test --profile ci --locked --package testbed --test all -- packages::
	@$(ci_bin) lab fetch mysql-5.5
	@$(test_all) --package scan --test all -- --ignored real_servers::
	@SEALION_DEEP=1 $(test_all) --package testbed --no-fail-fast --test all -- --ignored bench:: bench_lab:: prove_drivers::

docs: ## the book, into docs/book
	@command -v mdbook >/dev/null || { echo 'mdbook is missing: cargo install mdbook --locked' >&2; exit 2; }
	@mdbook build docs

clean: ## what was built and reported; the downloaded servers stay in the cache
	@$(CARGO) clean
	@rm -rf out docs/book
