import Glibc

/// Writes the operator's log: a line at a time, on standard error.
package struct Log: Sendable {
  private let sink: @Sendable (String) -> Void

  /// Creates a log that hands each line to `sink`.
  package init(_ sink: @escaping @Sendable (String) -> Void) { self.sink = sink }

  /// The process's standard error; a line is written in one call, so that lines do not mix.
  package static let standardError = Log { line in
    var text = "richpush: " + line + "\n"
    text.withUTF8 { bytes in
      _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count)
    }
  }

  /// Writes a line; control characters in it cannot forge another.
  package func callAsFunction(_ line: String) {
    if line.isPlain { return sink(line) }
    sink(
      String(
        String.UnicodeScalarView(
          line.unicodeScalars.map {
            $0.properties.generalCategory == .control ? "\u{FFFD}" : $0
          })))
  }
}
