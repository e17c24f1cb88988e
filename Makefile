# richpush: everything there is to type. `make help` lists it.

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -ec
.DEFAULT_GOAL := help
.ONESHELL:
.PHONY: help deps serve build tools test check lint warnings docs bench soak fuzz install clean

# What the build needs; what the tests run; what the benchmarks compare with.
BUILD_PACKAGES := libsqlite3-dev libpng-dev libjpeg-dev liblcms2-dev \
  libcurl4-gnutls-dev libgnutls28-dev libcrypt-dev libmpg123-dev libfaad-dev curl
TEST_PACKAGES := python3 python3-venv python3-h2 python3-cryptography php-cgi perl libcgi-pm-perl libfcgi-perl libfcgi-dev bubblewrap \
  nginx slowhttptest rsync netpbm libjpeg-turbo-progs liblcms2-utils colord-data libgs-common libimage-exiftool-perl libsixel-examples ffmpeg imagemagick
BENCH_PACKAGES := nginx wrk fcgiwrap nghttp2-server nghttp2-client openssl
PACKAGES = $(BUILD_PACKAGES)

PREFIX ?= /usr/local
SOURCES := Sources Tests plugins Package.swift
RELEASE := .build/release
PLUGINS := img sound url
# What `make bench` measures, each a program Tests/Bench/<name>.*; ONLY="media push" chooses.
BENCHES := folder imaging pictures media plugins push
TOOLS := .build/tools

help: ## this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' \
	  | awk -F'\t' '{ printf "  make %-9s %s\n", $$1, $$2 }'

deps: ## install the Debian packages that are missing
	@missing=
	for package in $(PACKAGES); do
	  dpkg-query -W -f='$${db:Status-Status}' $$package 2>/dev/null | grep -qx installed \
	    || missing="$$missing $$package"
	done
	if [ -z "$$missing" ]; then exit 0; fi
	echo "These Debian packages are missing:$$missing"
	if [ "$$(id -u)" = 0 ]; then as_root=
	elif command -v sudo >/dev/null; then as_root="sudo --"
	else
	  echo "Install them as root (apt-get install$$missing), then run make again." >&2
	  exit 1
	fi
	export DEBIAN_FRONTEND=noninteractive
	install() { $$as_root env DEBIAN_FRONTEND=noninteractive \
	  apt-get install -y --no-install-recommends $$missing </dev/null; }
	install || { $$as_root apt-get update </dev/null && install; }

tools: $(TOOLS)/ready
$(TOOLS)/ready: Tests/requirements.txt | deps
	python3 -m venv $(TOOLS)
	$(TOOLS)/bin/pip install --quiet --disable-pip-version-check -r Tests/requirements.txt
	touch $@

# The peers of img: programs from Debian, and from PyPI what Tests/Bench/requirements.txt says.
BENCH_TOOLS := .build/bench-tools
BENCH_PACKAGES += libnginx-mod-http-image-filter libjpeg-turbo-progs libvips-tools

$(BENCH_TOOLS)/ready: Tests/Bench/requirements.txt | deps
	python3 -m venv --system-site-packages $(BENCH_TOOLS)
	$(BENCH_TOOLS)/bin/pip install --quiet --disable-pip-version-check -r Tests/Bench/requirements.txt
	touch $@

tools test bench soak fuzz check docs warnings: PACKAGES = $(BUILD_PACKAGES) $(TEST_PACKAGES)
bench: PACKAGES += $(BENCH_PACKAGES)

build: deps ## build the program and its plugins for use
	swift build -c release

serve: build ## build, and run the server of the demonstration on 127.0.0.1:8080
	$(RELEASE)/richpush serve --demo

test: deps tools ## build and run all tests; what failed stands at the end
	@mkdir -p .build
	swift build --build-tests
	status=0
	swift test --skip-build --disable-xctest --no-parallel 2>&1 </dev/null \
	  | tee .build/tests.log || status=$$?
	awk -f Tests/summary.awk .build/tests.log
	exit $$status

check: lint warnings test docs ## all that must hold before a change goes in

lint: ## the house style, as swift-format and the C compiler see it
	swift format lint --strict --parallel --recursive $(SOURCES)

warnings: deps ## everything compiles without a warning
	swift build --build-tests

docs: deps ## the public documentation is complete and has no broken link
	@rm -rf .build/docs
	for library in RichPushClient PluginKit; do
	  mkdir -p .build/docs/$$library.symbols
	  swift build --target $$library
	  swift symbolgraph-extract -module-name $$library -I .build/debug/Modules -I Sources/CLibraries/include \
	    -target $$(uname -m)-unknown-linux-gnu -minimum-access-level public \
	    -output-dir .build/docs/$$library.symbols
	  docc convert --warnings-as-errors --output-path .build/docs/$$library \
	    --additional-symbol-graph-dir .build/docs/$$library.symbols \
	    --fallback-display-name $$library --fallback-bundle-identifier richpush.$$library
	done

bench: build $(BENCH_TOOLS)/ready ## how fast it is, beside its peers on the same machine (ONLY="media push")
	export PATH=$$PWD/$(BENCH_TOOLS)/bin:$$PATH
	missed=
	for bench in $(or $(ONLY),$(BENCHES)); do
	  for program in Tests/Bench/$$bench.*; do echo "== $$bench"; $$program || missed="$$missed $$bench"; done
	done
	[ -z "$$missed" ] || { echo "missed a target:$$missed"; exit 1; }

soak: build tools ## the long proofs, with the program as it is used: chaos, herds, thousands of files, killed half-way
	swift build --build-tests
	RICHPUSH_SOAK=1 RICHPUSH_PROGRAMS=$$PWD/$(RELEASE) swift test --skip-build --disable-xctest --no-parallel --filter 'SoakTests|HostileMatrixTests' </dev/null

fuzz: deps ## hostile bytes into every parser for SECONDS=60 each
	for program in Tests/Fuzz/*.sh; do SECONDS_EACH=$(or $(SECONDS),60) $$program; done

install: build ## copy the program and its plugins to PREFIX (/usr/local)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/richpush/plugins
	install $(RELEASE)/richpush $(RELEASE)/richpush-exec $(DESTDIR)$(PREFIX)/lib/richpush/
	for plugin in $(PLUGINS); do
	  install -d $(DESTDIR)$(PREFIX)/lib/richpush/plugins/$$plugin
	  install $(RELEASE)/$$plugin plugins/$$plugin/plugin.json \
	    $(DESTDIR)$(PREFIX)/lib/richpush/plugins/$$plugin/
	done
	ln -sf ../lib/richpush/richpush $(DESTDIR)$(PREFIX)/bin/richpush

clean: ## remove what was built; var/ with the notifications stays
	rm -rf .build
