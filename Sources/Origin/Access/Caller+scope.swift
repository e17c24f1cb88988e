import FoundationEssentials
import Primitives
import RichPushAPI
import Store

// What the access token of a request allows.

extension Caller {
  /// What the access token allows that was sent; nil without one.
  var scope: AccessTokenScope? {
    if case .accessToken(_, _, let scope) = proof { scope } else { nil }
  }

  /// Whether the caller's token allows notifications for these recipients, as a `to` names them.
  func mayAddress(_ to: [String]) -> Bool { outside(to) == nil }

  /// - Throws: `forbidden` if the caller's token does not allow notifications for one of these recipients, with a
  ///   sentence that names it.
  func requireAddressable(_ to: [String]) throws(ServiceError) {
    guard let one = outside(to), let allowed = scope?.to else { return }
    let names = allowed.prefix(10).map(\.quoted).joined(separator: ", ")
    throw ServiceError(
      .init(
        "to", .forbidden,
        "This access token may not send to \(one.quoted), only to \(names)"
          + (allowed.count > 10 ? " and \(allowed.count - 10) others." : ".")))
  }

  private func outside(_ to: [String]) -> String? {
    guard let allowed = scope?.to else { return nil }
    return to.first { !allowed.contains($0) }
  }

  /// The JSON form of a notification, with the recipients of the caller's token if it names none.
  func addressed(_ body: [UInt8]) -> [UInt8] {
    guard let to = scope?.to, JSONValue(body)?.members?["to"] == nil else { return body }
    return JSONText.inserting(["to": JSONCoding.text(to)], into: body)
  }
}
