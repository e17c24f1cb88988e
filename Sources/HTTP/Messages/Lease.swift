/// Lets an answer be given again, for a second, to whoever sends the same head, without asking anew.
package protocol Lease: AnyObject, Sendable {
  /// Whether the answer still stands; asked each time before it is given again, on an HTTP thread.
  func renew() -> Bool
}
