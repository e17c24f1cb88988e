import Primitives

/// What a request fetches, for the store to be asked about it while its caller is verified.
struct Fetch: Sendable {
  let notification: Int
  /// A moment of the notifications' changes before the store is asked.
  let moment: ChangeClock.Moment
}

/// What the store told of a fetch.
struct FetchRecord: Sendable {
  let fetch: Fetch
  /// Whether it is recorded already; nil if the caller is no recipient.
  let isRecorded: Bool?
}
