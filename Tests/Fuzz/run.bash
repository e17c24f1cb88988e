# Read by the scripts beside it, which set work and seconds.

# run PROGRAM NAME MAX_LENGTH SEEDS…: one target; false when it found something, whose input then lies beside the corpus.
run() {
  local program=$1 name=$2 length=$3 status=0
  mkdir -p "$work/corpus/$name"
  echo "== $name"
  SWIFT_BACKTRACE=enable=no FUZZ_TARGET=$name ASAN_OPTIONS=detect_leaks=0 nice "$work/$program" \
    "$work/corpus/$name" "${@:4}" \
    -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -max_len="$length" \
    -artifact_prefix="$work/$name-" -print_final_stats=1 -verbosity=0 \
    > "$work/$name.log" 2>&1 || status=1
  grep -aE 'ERROR|Fatal|Test unit|number_of_executed|slowest|peak_rss' "$work/$name.log" || true
  return $status
}
