# Reads a log of Swift Testing and says at its end what a person wants to know: what failed.

/^.? ?[^ ]+ Test .* started\.$/ && !/Test run/ && !/Test case/ { running[name($0)] = 1 }
/^.? ?[^ ]+ Test .* (passed|skipped|failed)/ && !/Test run/ { delete running[name($0)] }
/ Test .* failed after / && !/Test run/ { failed[name($0)] = 1; failures++ }
/ Test run with .* (passed|failed) after / { closing = $0 }

END {
  if (closing == "") {
    print "The tests did not come to an end. These were running:"
    for (test in running) print "  " test
  }
  if (failures > 0) {
    print failures " failed:"
    for (test in failed) print "  " test
  }
  if (closing != "") print closing
}

# What stands between "Test " and what became of it.
function name(line) {
  sub(/^.* Test /, "", line)
  sub(/ (started\.|with [0-9]+ test cases? (passed|failed).*|passed after.*|failed after.*|skipped.*)$/, "", line)
  return line
}
