#!/bin/sh
# The rich type NAME: a card with the payload as its text.
if [ -z "$RICH_PAYLOAD" ]; then
  printf 'Status: 422\nContent-Type: text/plain\n\nThe payload is the text of the card.'
  exit
fi

# As a JSON string: backslashes and quotes escaped, control characters removed.
text=$(printf '%s' "$RICH_PAYLOAD" | tr '\n\t' '  ' | tr -d '\000-\037\177' | sed 's/[\\"]/\\&/g')
printf 'Content-Type: application/json\n\n{"type":"NAME","text":"%s"}\n' "$text"
