/// A well-behaved no: the status the caller gets and one sentence a person can act on.
public struct Refusal: Error, Sendable, Hashable {
  /// One of 404, 410, 415, 422, 451 and 503; any other status becomes 502 on the way.
  public let status: Int
  /// What is wrong and how to mend it, without a trailing line break.
  public let sentence: String

  /// Refuses, by default because the payload is not what this rich type needs.
  public init(status: Int = 422, _ sentence: String) {
    self.status = status
    self.sentence = sentence
  }
}
