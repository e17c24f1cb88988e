# richpush: everything there is to type. `make help` lists it.

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -ec
.DEFAULT_GOAL := help
.ONESHELL:
.PHONY: help deps swift serve cluster build earlier tools clients tests test test-system test-all check lint warnings docs pictures bench soak fuzz install copy deb image clean

# What the build needs; what the tests run; what the benchmarks compare with.
BUILD_PACKAGES := libsqlite3-dev libpng-dev libjpeg-dev liblcms2-dev \
  libcurl4-openssl-dev libssl-dev libunistring-dev libqrencode-dev zlib1g-dev libcrypt-dev libmpg123-dev libfaad-dev libheif-dev libwebp-dev libisal-dev curl
# What the plugin video runs.
SERVE_PACKAGES := ffmpeg
CLUSTER_PACKAGES := haproxy postgresql python3 python3-swift libpq5
TEST_PACKAGES := libgnutls28-dev openssl python3 python3-venv python3-h2 python3-cryptography php-cgi python3-flask perl libcgi-pm-perl libfcgi-perl libfcgi-dev bubblewrap \
  nginx slowhttptest rsync netpbm libjpeg-turbo-progs liblcms2-utils colord-data libgs-common libimage-exiftool-perl libsixel-examples ffmpeg imagemagick libheif-examples libavif-bin webp giflib-tools qrencode zbar-tools strace mandoc zsh fish postgresql-15 libpq5
SYSTEM_PACKAGES := haproxy gnutls-bin libvips-tools chromium firefox-esr webkit2gtk-driver xvfb python3-aiohttp mmdebstrap gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static python3-swift \
  xfsprogs borgbackup certbot logrotate monit mosquitto jq prometheus prometheus-alertmanager
# What `make pictures` draws with, and the browser that it takes them in.
PICTURE_PACKAGES := python3 python3-venv python3-h2 python3-cryptography chromium fonts-dejavu-core ffmpeg qrencode
BENCH_PACKAGES := nginx valgrind wrk fcgiwrap nghttp2-server nghttp2-client openssl libnginx-mod-http-image-filter libjpeg-turbo-progs libvips-tools postgresql-15 libpq5 python3-swift
# What makes the Debian package and checks it.
DEB_PACKAGES := debhelper dpkg-dev python3 lintian systemd
SOAK_PACKAGES := piuparts git
IMAGE_PACKAGES := umoci openssl ca-certificates python3-yaml
# The packages that the goals of this call need.
of = $(if $(filter $(1),$(MAKECMDGOALS)),$(2))
PACKAGES = $(BUILD_PACKAGES) \
  $(call of,serve cluster,$(SERVE_PACKAGES)) \
  $(call of,cluster,$(CLUSTER_PACKAGES)) \
  $(call of,tools clients tests test test-system test-all bench soak fuzz check docs warnings,$(TEST_PACKAGES)) \
  $(call of,test-system test-all soak,$(SYSTEM_PACKAGES)) \
  $(call of,pictures,$(PICTURE_PACKAGES)) \
  $(call of,bench,$(BENCH_PACKAGES)) \
  $(call of,test-system test-all soak deb image,$(DEB_PACKAGES)) \
  $(call of,test-system test-all soak image,$(IMAGE_PACKAGES)) \
  $(call of,soak,$(SOAK_PACKAGES))

PREFIX ?= /usr/local
SOURCES := Sources Tests plugins Package.swift
# It has a build folder of its own, since SwiftPM builds one thing at a time in a folder.
RELEASE_BUILD := .build/optimized
RELEASE := .build/release
# The one configuration of what is used, measured and packaged: it holds the Swift runtime and searches
# no folder of its own for libraries. Debug builds are for the tests only. (RELR saves 6% of a plugin.)
# Two builds are equal: no path of this machine is in it, no name of a precompiled C module, whose checksum depends on
# when its headers were written, and no checksum of the compiler's options, by which it would skip code that is unchanged.
RELEASE_FLAGS := -c release --scratch-path $(RELEASE_BUILD) --static-swift-stdlib --disable-local-rpath \
  -Xswiftc -file-prefix-map -Xswiftc $(CURDIR)=. -Xcc -ffile-prefix-map=$(CURDIR)=. \
  -Xswiftc -Xfrontend -Xswiftc -no-clang-module-breadcrumbs \
  -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen \
  -Xswiftc -use-ld=lld -Xlinker -z -Xlinker pack-relative-relocs -Xlinker --build-id=sha1
# Of the build of the tests; .ci/run, which builds once, has some.
DEBUG_FLAGS ?=
PLUGINS := img sound video url
# The files that ship in assets/: what a developer drops beside them does not.
SAMPLES := assets/img/logo.png assets/img/beach.jpg assets/sound/chime.wav assets/url/welcome.url
# What `make bench` measures, each a program Tests/Bench/<name>.*; ONLY="media push" chooses.
BENCHES := start folder imaging pictures media touch phone fanout streams personal plugins push webpush postgres
TOOLS := .build/tools
space := $() $()

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' \
	  | awk -F'\t' '{ printf "  make %-11s %s\n", $$1, $$2 }'

deps: ## install the Debian packages that are missing
	@missing=
	for package in $(PACKAGES); do
	  dpkg-query -W -f='$${db:Status-Status}' $$package 2>/dev/null | grep -qx installed \
	    || missing="$$missing $$package"
	done
	if [ -z "$$missing" ]; then exit 0; fi
	echo "These Debian packages are missing:$$missing"
	case "$$missing " in *" libcurl4-openssl-dev "*)
	  if dpkg-query -W -f='$${db:Status-Status}' libcurl4-gnutls-dev 2>/dev/null | grep -qx installed; then
	    echo "libcurl4-openssl-dev takes the place of libcurl4-gnutls-dev, which richpush asked for before: apt-get removes that."
	  fi;;
	esac
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

swift:
	@command -v swift >/dev/null || {
	  echo "There is no swift in PATH: install Swift 6.3, https://www.swift.org/install/, then run make again." >&2
	  exit 1
	}

tools: $(TOOLS)/ready
$(TOOLS)/ready: Tests/requirements.txt Tests/sdists.txt | deps
	python3 -m venv $(TOOLS)
	$(TOOLS)/bin/pip install --quiet --disable-pip-version-check -r Tests/requirements.txt
	$(TOOLS)/bin/pip download --quiet --disable-pip-version-check --no-deps -d $(TOOLS)/sdists -r Tests/sdists.txt
	touch $@

# The peers of img: programs from Debian, and from PyPI what Tests/Bench/requirements.txt says.
BENCH_TOOLS := .build/bench-tools

$(BENCH_TOOLS)/ready: Tests/Bench/requirements.txt | deps
	python3 -m venv --system-site-packages $(BENCH_TOOLS)
	$(BENCH_TOOLS)/bin/pip install --quiet --disable-pip-version-check -r Tests/Bench/requirements.txt
	touch $@

# Unmodified clients of the APIs of other programs: lists that are complete, each with versions that another cannot have.
CLIENTS := .build/clients

clients: $(patsubst Tests/Clients/%.txt,$(CLIENTS)/%/ready,$(wildcard Tests/Clients/*.txt))
$(CLIENTS)/%/ready: Tests/Clients/%.txt | deps
	python3 -m venv --clear $(CLIENTS)/$*
	$(CLIENTS)/$*/bin/pip install --quiet --disable-pip-version-check --no-deps --no-compile -r $<
	touch $@

build: deps swift ## build the program and its plugins for use
	RICHPUSH_COMMIT=$$(git describe --always --dirty --abbrev=12 --exclude '*' 2>/dev/null || echo unknown) \
	  swift build $(RELEASE_FLAGS)
	ln -sfn $(notdir $(RELEASE_BUILD))/release $(RELEASE)

serve: build ## build, and run the server of the demonstration on 127.0.0.1:8080
	$(RELEASE)/richpush serve --demo

# Its data stays in var-cluster.
cluster: build ## build, and run three nodes of it with PostgreSQL, an object store and HAProxy on 127.0.0.1:8080
	@cluster="packaging/cluster/richpush-cluster --folder $(CURDIR)/var-cluster"
	trap "$$cluster down" EXIT
	trap 'kill $${!-} 2>/dev/null || true; exit' INT TERM
	$$cluster up --demo --program $(CURDIR)/$(RELEASE)/richpush
	echo "Another terminal can use it: $$cluster --help. Ctrl-C takes it down."
	sleep infinity & wait

tests: deps swift tools
	swift build --build-tests $(DEBUG_FLAGS)

test: tests ## build and run the tests that need one machine and one user (4 minutes on two cores)
	Tests/run.py --skip 'SystemTests|SoakTests'

test-system: deps tests clients image ## the tests with browsers, other programs, other local users, hostile plugins (10 minutes)
	Tests/run.py --filter 'SystemTests|SoakTests'

test-all: deps tests clients image ## both at once, which takes less time than one after the other
	Tests/run.py

check: lint warnings test docs ## all that must hold before a change goes in

lint: swift ## the house style, as swift-format and the C compiler see it
	swift format lint --strict --parallel --recursive $(SOURCES)

warnings: tests ## everything compiles without a warning

docs: deps swift ## the public documentation is complete and has no broken link
	@rm -rf .build/docs
	for library in RichPushClient PluginKit; do
	  mkdir -p .build/docs/$$library.symbols
	  swift build --target $$library $(DEBUG_FLAGS)
	  swift symbolgraph-extract -module-name $$library -I .build/debug/Modules -I Sources/CCurl \
	    -target $$(uname -m)-unknown-linux-gnu -minimum-access-level public \
	    -output-dir .build/docs/$$library.symbols
	  docc convert --warnings-as-errors --output-path .build/docs/$$library \
	    --additional-symbol-graph-dir .build/docs/$$library.symbols \
	    --fallback-display-name $$library --fallback-bundle-identifier richpush.$$library
	done

pictures: build tools ## the pictures of README and docs, made from the running program
	$(TOOLS)/bin/python docs/console/make.py $(RELEASE)
	$(TOOLS)/bin/python docs/images/make.py $(RELEASE)

bench: build $(BENCH_TOOLS)/ready ## how fast it is, beside its peers on the same machine (ONLY="media push")
	export PATH=$$PWD/$(BENCH_TOOLS)/bin:$$PATH
	missed=
	for bench in $(or $(ONLY),$(BENCHES)); do
	  for program in Tests/Bench/$$bench.*; do echo "== $$bench"; $$program || missed="$$missed $$bench"; done
	done
	[ -z "$$missed" ] || { echo "missed a target:$$missed"; exit 1; }

# The last release (0.2.0), from which the chaos soaks upgrade, built from the history of this repository.
EARLIER_COMMIT := 7920ddddb413280e9bddbcac1a964651d1606a9a
EARLIER := .build/earlier-$(EARLIER_COMMIT)

earlier: deps swift
	[ ! -e $(EARLIER)/ready ] || exit 0
	git cat-file -e $(EARLIER_COMMIT)^{commit} 2>/dev/null || {
	  echo "The history of this repository has no commit $(EARLIER_COMMIT): the soaks do without an upgrade." >&2
	  exit 0
	}
	rm -rf $(EARLIER)
	mkdir -p $(EARLIER)
	git archive $(EARLIER_COMMIT) | tar -x -C $(EARLIER)
	$(MAKE) -C $(EARLIER) build
	touch $(EARLIER)/ready

# On a disk: what is in memory is not as it is used.
soak: tests deb earlier ## the long proofs, with the program as it is used: chaos, herds, thousands of files (3 hours; ONLY="Chaos")
	[ ! -e $(EARLIER)/ready ] || export RICHPUSH_EARLIER_PROGRAMS=$$PWD/$(EARLIER)/.build/release
	RICHPUSH_SOAK=1 RICHPUSH_PROGRAMS=$$PWD/$(RELEASE) TMPDIR=$${TMPDIR:-/var/tmp} Tests/run.py --follow --workers 1 \
	  --limit 4000 --log .build/soak.log --filter '($(subst $(space),|,$(or $(ONLY),.)))\w*SoakTests$$'

fuzz: deps ## hostile bytes into every parser for SECONDS=60 each
	failed=
	for program in Tests/Fuzz/*.sh; do
	  SECONDS_EACH=$(or $(SECONDS),60) $$program || failed="$$failed $$program"
	done
	[ -z "$$failed" ] || { echo "failed:$$failed"; exit 1; }

# A package keeps the debug information for another one.
INSTALL_PROGRAM ?= install --strip

install: build ## copy the program and its plugins to PREFIX (/usr/local)
	$(MAKE) copy

copy:
	umask 022
	mkdir -p $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/richpush/plugins
	$(INSTALL_PROGRAM) $(RELEASE)/richpush $(RELEASE)/richpush-exec $(DESTDIR)$(PREFIX)/lib/richpush/
	for sample in $(SAMPLES); do install -D -m 644 $$sample $(DESTDIR)$(PREFIX)/lib/richpush/$$sample; done
	for plugin in $(PLUGINS); do
	  mkdir -p $(DESTDIR)$(PREFIX)/lib/richpush/plugins/$$plugin
	  $(INSTALL_PROGRAM) $(RELEASE)/$$plugin $(DESTDIR)$(PREFIX)/lib/richpush/plugins/$$plugin/
	  install -m 644 plugins/$$plugin/plugin.json $(DESTDIR)$(PREFIX)/lib/richpush/plugins/$$plugin/
	done
	$(INSTALL_PROGRAM) $(RELEASE)/img-decode $(DESTDIR)$(PREFIX)/lib/richpush/plugins/img/
	ln -sf ../lib/richpush/richpush $(DESTDIR)$(PREFIX)/bin/richpush
	install -D -t $(DESTDIR)$(PREFIX)/share/richpush/cluster packaging/cluster/richpush-cluster
	install -m 644 -t $(DESTDIR)$(PREFIX)/share/richpush/cluster packaging/cluster/*.py packaging/cluster/haproxy.cfg
	ln -sf ../share/richpush/cluster/richpush-cluster $(DESTDIR)$(PREFIX)/bin/richpush-cluster

deb: build ## make a Debian package, in .build/deb
	rm -rf .build/deb
	mkdir -p .build/deb/richpush
	cp -R packaging/debian .build/deb/richpush/debian
	cp -R packaging/monitoring packaging/recipes packaging/apprise .build/deb/richpush/debian/
	cd .build/deb/richpush
	SOURCE_FOLDER=$(CURDIR) dpkg-buildpackage --build=binary --no-sign
	ls -l ../*.deb

image: deb ## make an OCI image of the package, in .build/image
	packaging/image/make.py .build/deb/richpush_*_$$(dpkg --print-architecture).deb .build/image

clean: ## remove what was built; var/ with the notifications stays
	rm -rf .build
