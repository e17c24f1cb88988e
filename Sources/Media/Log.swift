import Foundation
import Glibc

extension Error {
  /// A description for the log: the sentence of richpush's own errors, or the system's text.
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

/// An error that the operator can fix: in the configuration, or in a command's arguments.
package struct OperatorError: Error, CustomStringConvertible {
  /// A sentence that says what is wrong.
  package let reason: String

  package var description: String { reason }

  /// Describes what is wrong.
  package init(_ reason: String) { self.reason = reason }
}

/// The operator's log: one line at a time, on standard error.
package struct Log: Sendable {
  private let sink: @Sendable (String) -> Void

  /// Creates a log that passes each line to `sink`.
  package init(_ sink: @escaping @Sendable (String) -> Void) { self.sink = sink }

  /// The process's standard error; one system call per line, so that lines do not mix.
  package static let standardError = Log { line in
    var text = "richpush: " + line + "\n"
    text.withUTF8 { bytes in
      _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count)
    }
  }

  /// Writes a line; replaces control characters, so that a line cannot imitate another one.
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
