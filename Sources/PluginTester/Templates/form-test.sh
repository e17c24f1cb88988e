#!/bin/sh
# Calls the plugin as the server does, with environment variables. Run it after each change.
# `richpush plugin check` tests much more.
cd "$(dirname "$0")" || exit 1
failed=0

expect() { # WHAT, PATTERN, ANSWER
  case $3 in
    *"$2"*) echo "ok: $1" ;;
    *) echo "not ok: $1 (no '$2' in: $3)"; failed=1 ;;
  esac
}

expect "makes a card" '"title":"Hello"' "$(RICH_VERB=render RICH_PAYLOAD='{"title":"Hello"}' ./NAME)"
expect "escapes quotes" '"say \"hi\""' "$(RICH_VERB=render RICH_PAYLOAD='{"title":"say \"hi\""}' ./NAME)"
expect "refuses what has no title" 'Status: 422' "$(RICH_VERB=validate RICH_PAYLOAD='{}' ./NAME)"
exit $failed
