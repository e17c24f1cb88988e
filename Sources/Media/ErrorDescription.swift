import FoundationEssentials
import Glibc

extension Error {
  /// A description for the log: the sentence of richpush's own errors, or the system's text.
  package var logDescription: String {
    switch self {
    case is CancellationError: "it was cancelled"
    case let error as CocoaError:
      [error.filePath, error.cause].compactMap(\.self).joined(separator: ": ")
    case let error as any LocalizedError: error.errorDescription ?? "\(error)"
    case let error as any CustomStringConvertible: error.description
    default: "\(self)"
    }
  }
}

extension CocoaError {
  /// The text of the system call's error, where one failed.
  fileprivate var cause: String {
    guard let error = underlying as? POSIXError else { return "Cocoa error \(code.rawValue)" }
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

extension String {
  /// Whether every character is printable ASCII.
  package var isPrintableASCII: Bool { utf8.allSatisfy { (0x20..<0x7F).contains($0) } }
}
