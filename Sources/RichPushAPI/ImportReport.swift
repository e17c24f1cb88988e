/// What an import of attributes did, or would do: the response of `POST /api/attributes/import`.
public struct ImportReport: Sendable, Equatable, Codable {
  /// The users whose attributes are others now.
  public private(set) var changed = 0
  /// The users who had these attributes.
  public private(set) var unchanged = 0
  /// The lines that were not taken.
  public private(set) var refused = 0
  /// The first lines that were not taken, at most 1,000.
  public private(set) var lines: [Line] = []
  /// How many of those are not in `lines`.
  public private(set) var more = 0

  /// The most bytes of the file.
  package static let largestFile = 16 << 20
  private static let mostLines = 1000

  /// A report of no lines.
  package init() {}

  /// Adds lines.
  package mutating func add(_ added: [Line]) {
    for line in added {
      switch line.result {
      case .changed: changed += 1
      case .unchanged: unchanged += 1
      case .refused where lines.count < Self.mostLines:
        refused += 1
        lines.append(line)
      case .refused:
        refused += 1
        more += 1
      }
    }
  }

  /// A line of a file, and what became of it.
  public struct Line: Sendable, Equatable, Codable {
    /// What became of a line.
    public enum Result: String, Sendable, Codable {
      /// The user's attributes are others now.
      case changed
      /// The user had these attributes.
      case unchanged
      /// It was not taken; the reason is in ``Line/reason``.
      case refused
    }

    /// The number of the line; the first one of the file is 1.
    public let line: Int
    /// What is in its column `username`, at most 64 characters of it.
    public let username: String
    /// What became of it.
    public let result: Result
    /// Why it was not taken, and what to do; nil if it was.
    @Nullable public var reason: String?

    /// Describes a line.
    package init(_ line: Int, _ username: String, _ result: Result, _ reason: String? = nil) {
      (self.line, self.username, self.result) = (line, username, result)
      self.reason = reason
    }
  }
}
