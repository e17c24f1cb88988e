# Read by the scripts beside it: builds a module of ours for libFuzzer with AddressSanitizer, and runs its targets.
#
#   SECONDS_EACH=60 Tests/Fuzz/http.sh [TARGET…]     all targets, when none is named
#
# An input that crashes a target is left beside the corpus, in FUZZ_FOLDER (.build/fuzz).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${SECONDS_EACH:-60}
work=${FUZZ_FOLDER:-$PWD/.build/fuzz}
chosen=("$@")
objects=()
failed=0
mkdir -p "$work"

swift_flags=(
  -g -O -wmo -swift-version 6 -package-name richpush -parse-as-library -sanitize=fuzzer,address
  -I"$work" -ISources/CLibraries/include -ISources/CCurl -ISources/CCodecs/include
  -enable-upcoming-feature ExistentialAny -enable-upcoming-feature MemberImportVisibility
  -enable-upcoming-feature InternalImportsByDefault
  -enable-upcoming-feature NonisolatedNonsendingByDefault
)

# compile_c FILE…: C sources that the program is linked with.
compile_c() {
  local file object
  for file; do
    object="$work/$(basename "$(dirname "$file")")-$(basename "$file" .c).o"
    clang -g -O1 -fsanitize=fuzzer-no-link,address -ISources/CLibraries/include -ISources/CCurl \
      -ISources/CCodecs/include -ISources/CCodecs -ISources/img-decode -c "$file" -o "$object"
    objects+=("$object")
  done
}

# compile_module NAME…: modules in Sources that the program is linked with.
compile_module() {
  local name
  for name; do
    swiftc "${swift_flags[@]}" -module-name "$name" -emit-module \
      -emit-module-path "$work/$name.swiftmodule" -c $(find "Sources/$name" -name '*.swift' | sort) \
      -o "$work/$name.o"
    objects+=("$work/$name.o")
  done
}

# link_module NAME SOURCES LIBRARY…: the program: NAMETargets.swift as a part of the module whose targets it has.
link_module() {
  program="$work/$1"
  # Without a path of its own the module, which debug information needs, is left in the current folder.
  swiftc "${swift_flags[@]}" -module-name "$1" -emit-executable -emit-module \
    -emit-module-path "$work/$1.swiftmodule" Tests/Fuzz/Entry.swift "Tests/Fuzz/$1Targets.swift" \
    $2 "${objects[@]}" -use-ld=lld "${@:3}" -o "$program"
}

# seed TARGET NAME TEXT: an input to begin with; the text is printf's.
seed() {
  mkdir -p "$work/seeds/$1"
  printf "$3" > "$work/seeds/$1/$2"
}

# fuzz TARGET MAX_LENGTH [SEEDS…]: runs a target, from the inputs in the folders, or those of `seed`.
fuzz() {
  local name=$1 length=$2 status=0
  if [ ${#chosen[@]} -gt 0 ] && [[ " ${chosen[*]} " != *" $name "* ]]; then return; fi
  local seeds=("${@:3}")
  [ ${#seeds[@]} -gt 0 ] || seeds=("$work/seeds/$name")
  mkdir -p "$work/corpus/$name" "${seeds[@]}"
  echo "== $name"
  SWIFT_BACKTRACE=enable=no FUZZ_TARGET=$name ASAN_OPTIONS=detect_leaks=0 nice "$program" \
    "$work/corpus/$name" "${seeds[@]}" \
    -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -max_len="$length" \
    -artifact_prefix="$work/$name-" -print_final_stats=1 -verbosity=0 \
    > "$work/$name.log" 2>&1 || status=1
  grep -aE 'ERROR|Fatal|differs|Test unit|number_of_executed|slowest|peak_rss' "$work/$name.log" || true
  [ $status = 0 ] || failed=1
}
