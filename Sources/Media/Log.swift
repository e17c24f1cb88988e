import Foundation
import Glibc

extension Error {
  /// What went wrong, for the log: the sentence of our own errors, or the system's text.
  package var logDescription: String {
    switch self {
    case is CancellationError: "it was cancelled"
    case let error as CocoaError:
      [error.filePath, error.cause].compactMap(\.self).joined(separator: ": ")
    case let error as any LocalizedError: error.errorDescription ?? error.localizedDescription
    case let error as any CustomStringConvertible: error.description
    default: localizedDescription
    }
  }
}

extension CocoaError {
  /// The text of the system call's error, where one failed.
  fileprivate var cause: String {
    guard let error = underlying as? POSIXError else { return localizedDescription }
    return String(cString: strerror(error.code.rawValue))
  }
}

/// The operator's log: one line at a time, on standard error.
package struct Log: Sendable {
  private let sink: @Sendable (String) -> Void

  /// Creates a log that hands each line to `sink`.
  package init(_ sink: @escaping @Sendable (String) -> Void) { self.sink = sink }

  /// The process's standard error; each line is written in one call, so that lines do not mix.
  package static let standardError = Log { line in
    var text = "richpush: " + line + "\n"
    text.withUTF8 { bytes in
      _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count)
    }
  }

  /// Writes a line; control characters in it are replaced, so that it cannot forge another.
  package func callAsFunction(_ line: String) {
    if line.isPrintableASCII { return sink(line) }
    sink(
      String(
        String.UnicodeScalarView(
          line.unicodeScalars.map {
            $0.properties.generalCategory == .control ? "\u{FFFD}" : $0
          })))
  }
}

extension String {
  /// Whether every character is printable ASCII.
  package var isPrintableASCII: Bool { utf8.allSatisfy { (0x20..<0x7F).contains($0) } }
}
