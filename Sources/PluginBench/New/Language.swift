/// A language that a new plugin can be written in, with a program that does the same in each: it makes
/// a card of the payload, and refuses an empty one.
enum Language: String, CaseIterable, Sendable {
  case sh, python, perl, php, swift

  var program: String {
    switch self {
    case .sh: Self.shell
    case .python: Self.pythonScript
    case .perl: Self.perlScript
    case .php: Self.phpScript
    case .swift: Self.swiftProgram
    }
  }

  static let manifest = """
    {
      "name": "NAME",
      "version": "0.1.0",
      "verbs": ["validate", "render"],
      "accepts": ["text/plain"],
      "produces": ["application/json"]
    }

    """

  static let build = """
    #!/bin/sh
    # Compiles main.swift into the plugin; the Swift library goes in, so that it starts anywhere.
    cd "$(dirname "$0")" && exec swiftc -O -static-stdlib -o NAME main.swift

    """

  static let test = #"""
    #!/bin/sh
    # Asks the plugin as the server does: by its environment. Run it after each change.
    # `richpush plugin check` asks much more.
    cd "$(dirname "$0")" || exit 1
    failed=0

    expect() { # WHAT, PATTERN, ANSWER
      case $3 in
        *"$2"*) echo "ok: $1" ;;
        *) echo "not ok: $1 (no '$2' in: $3)"; failed=1 ;;
      esac
    }

    expect "makes a card" '"text":"Hello"' "$(RICH_VERB=render RICH_PAYLOAD=Hello ./NAME)"
    expect "escapes quotes" '"text":"say \"hi\""' "$(RICH_VERB=render RICH_PAYLOAD='say "hi"' ./NAME)"
    expect "refuses nothing at all" 'Status: 422' "$(RICH_VERB=validate RICH_PAYLOAD= ./NAME)"
    exit $failed

    """#

  private static let shell = #"""
    #!/bin/sh
    # The rich type NAME: a card with the payload as its text.
    if [ -z "$RICH_PAYLOAD" ]; then
      printf 'Status: 422\nContent-Type: text/plain\n\nThe payload is the text of the card.'
      exit
    fi

    # Into a JSON string: backslashes and quotes escaped, control characters left out.
    text=$(printf '%s' "$RICH_PAYLOAD" | tr '\n\t' '  ' | tr -d '\000-\037\177' | sed 's/[\\"]/\\&/g')
    printf 'Content-Type: application/json\n\n{"type":"NAME","text":"%s"}\n' "$text"

    """#

  private static let pythonScript = #"""
    #!/usr/bin/python3
    """The rich type NAME: a card with the payload as its text."""
    import json
    import os

    text = os.fsencode(os.environ.get("RICH_PAYLOAD", "")).decode("utf-8", "replace")
    if text:
        print("Content-Type: application/json\n")
        print(json.dumps({"type": "NAME", "text": text}, separators=(",", ":")))
    else:
        print("Status: 422\nContent-Type: text/plain\n")
        print("The payload is the text of the card.")

    """#

  private static let perlScript = #"""
    #!/usr/bin/perl
    # The rich type NAME: a card with the payload as its text.
    use strict;
    use warnings;
    use Encode qw(decode);
    use JSON::PP;

    my $text = decode('UTF-8', $ENV{RICH_PAYLOAD} // '');
    if (length $text) {
        print "Content-Type: application/json\n\n";
        print JSON::PP->new->utf8->canonical->encode({ type => 'NAME', text => $text });
    } else {
        print "Status: 422\nContent-Type: text/plain\n\n";
        print 'The payload is the text of the card.';
    }

    """#

  private static let phpScript = #"""
    #!/usr/bin/php-cgi
    <?php
    // The rich type NAME: a card with the payload as its text.
    $text = (string) getenv('RICH_PAYLOAD');
    if ($text !== '') {
        header('Content-Type: application/json');
        echo json_encode(['type' => 'NAME', 'text' => $text],
            JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE);
    } else {
        http_response_code(422);
        header('Content-Type: text/plain');
        echo 'The payload is the text of the card.';
    }

    """#

  private static let swiftProgram = #"""
    // The rich type NAME: a card with the payload as its text. build.sh compiles it.
    #if canImport(Glibc)
      import Glibc
    #endif

    /// A text as a JSON string.
    func quoted(_ text: String) -> String {
      let hex = Array("0123456789abcdef")
      return text.unicodeScalars.reduce("\"") { json, scalar in
        switch scalar {
        case "\"": json + "\\\""
        case "\\": json + "\\\\"
        case _ where scalar.value < 0x20:
          json + "\\u00" + String(hex[Int(scalar.value >> 4)]) + String(hex[Int(scalar.value & 15)])
        default: json + String(scalar)
        }
      } + "\""
    }

    let text = getenv("RICH_PAYLOAD").map { String(cString: $0) } ?? ""
    if text.isEmpty {
      print("Status: 422\nContent-Type: text/plain\n\nThe payload is the text of the card.")
    } else {
      print("Content-Type: application/json\n\n{\"type\":\"NAME\",\"text\":\(quoted(text))}")
    }

    """#
}
