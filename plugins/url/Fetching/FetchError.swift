/// Why nothing was fetched; the reason is for the operator's log.
struct FetchError: Error, CustomStringConvertible {
  let reason: String

  init(_ reason: String) { self.reason = reason }

  var description: String { reason }
}
