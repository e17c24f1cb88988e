/// Why a call has no reply.
package struct PluginError: Error, Sendable, CustomStringConvertible {
  /// What went wrong, for programs.
  package enum Code: String, Sendable, CaseIterable {
    /// There is no plugin for the rich type.
    case noSuchPlugin
    /// The plugin does not answer this verb, and the host has no answer of its own.
    case unsupportedVerb
    /// The plugin says that what the call is about does not exist.
    case notFound
    /// The plugin says that what the call is about no longer exists.
    case gone
    /// The message and payload do not fit into a process's environment.
    case contentTooLarge
    /// The asset's media type is not one that the plugin accepts.
    case unsupportedMediaType
    /// The plugin refuses the content, or the content cannot be passed to a process.
    case invalidContent
    /// The plugin withholds its answer for legal reasons.
    case unavailableForLegalReasons
    /// The plugin crashed, or broke the contract of `docs/PLUGINS.md`.
    case failed
    /// The plugin or the host is overloaded; ``PluginError/retryAfter`` is set.
    case busy
    /// The plugin was killed at its deadline.
    case timedOut

    /// Whether the fault lies with the plugin or the server rather than with the call.
    package var isFailure: Bool { [.failed, .busy, .timedOut].contains(self) }
  }

  package let code: Code
  /// One sentence that the caller can act on; for a refusal it is the plugin's own.
  package let reason: String
  /// The number of seconds after which to try again: always set for ``Code/busy``, for others if the plugin sets it.
  package let retryAfter: Int?
  /// The reason with details for the operator's log.
  let cause: String

  package var description: String { reason }

  /// Creates an error.
  ///
  /// Without `retryAfter`, ``Code/busy`` suggests one second. Without a `cause`, the log has the reason.
  package init(_ code: Code, _ reason: String, retryAfter: Int? = nil, cause: String? = nil) {
    (self.code, self.reason, self.cause) = (code, reason, cause ?? reason)
    self.retryAfter = retryAfter ?? (code == .busy ? 1 : nil)
  }

  /// The kernel limits a process's environment (execve(2), E2BIG).
  static let environmentTooLarge = Self(
    .contentTooLarge, "The message and payload are too long for a plugin's environment.")

  /// The process has no descriptors left.
  static let noDescriptors = busy("The server has no descriptors left for plugins.")

  static func busy(_ reason: String, cause: String? = nil) -> Self {
    Self(.busy, reason, cause: cause)
  }
}

extension Plugin {
  /// The error of a call in which the plugin broke the contract; only the log has the cause.
  func failure(_ cause: String) -> PluginError {
    PluginError(
      .failed, "The plugin \(richType) failed; the server's log says why.", cause: cause)
  }
}

/// What is wrong with the bytes that a plugin wrote, as the end of a sentence.
struct MalformedOutput: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  /// The first bytes for a log line, control characters escaped.
  static func quoted(_ bytes: some Collection<UInt8>) -> String {
    let text = bytes.prefix(longestQuotation).reduce(into: "") { text, byte in
      text += 0x20..<0x7F ~= byte ? String(Unicode.Scalar(byte)) : escaped(byte)
    }
    return "\"\(text)\"" + (bytes.count > longestQuotation ? "…" : "")
  }

  /// About one line of a terminal.
  private static let longestQuotation = 80

  private static func escaped(_ byte: UInt8) -> String {
    byte == 0x0A ? "\\n" : byte == 0x0D ? "\\r" : "\\x" + String(byte, radix: 16)
  }
}
