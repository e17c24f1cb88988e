import FoundationEssentials

/// The way to a notification hub, as the portal's connection string describes it.
package struct AzureConnection: Sendable, Equatable {
  /// `https://<namespace>/<hub>`, without a slash at its end.
  let hub: String
  let keyName: String
  let key: String

  /// Reads `Endpoint=sb://…/;SharedAccessKeyName=…;SharedAccessKey=…`; the order is free.
  package init(connectionString: String, hub: String) throws(PushError) {
    var parts: [String: String] = [:]
    for part in connectionString.split(separator: ";") {
      guard let equals = part.firstIndex(of: "=") else {
        throw Self.malformed("\"Name=value\" parts separated by \";\" were expected")
      }
      let name = part[..<equals].lowercased().filter { !$0.isWhitespace }
      parts[name] = String(part[part.index(after: equals)...])
    }
    guard let endpoint = parts["endpoint"], let scheme = endpoint.firstRange(of: "://") else {
      throw Self.malformed("the part \"Endpoint=sb://…\" is missing")
    }
    guard let keyName = parts["sharedaccesskeyname"], !keyName.isEmpty else {
      throw Self.malformed("the part \"SharedAccessKeyName=…\" is missing")
    }
    guard let key = parts["sharedaccesskey"], !key.isEmpty else {
      throw Self.malformed("the part \"SharedAccessKey=…\" is missing")
    }
    let host = endpoint[scheme.upperBound...].prefix { $0 != "/" }
    let isNamed =
      !hub.isEmpty
      && hub.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }
    guard !host.isEmpty, isNamed else {
      throw Self.malformed("the host or the hub's name \"\(hub)\" makes no address")
    }
    self.hub = "https://\(host)/\(hub)"
    self.keyName = keyName
    self.key = key
  }

  /// The value of an `Authorization` field that is good for the hub until `expiry`.
  ///
  /// The key's text itself is the HMAC's key; it is not decoded, although it looks like Base64.
  func sharedAccessSignature(expiry: Date) -> String {
    let resource = PercentEncoding.encoded(hub.lowercased())
    let seconds = Int(expiry.timeIntervalSince1970)
    let code = Signing.hmac(key: Array(key.utf8), Array("\(resource)\n\(seconds)".utf8))
    let signature = PercentEncoding.encoded(Signing.base64(code))
    return "SharedAccessSignature sr=\(resource)&sig=\(signature)&se=\(seconds)"
      + "&skn=\(PercentEncoding.encoded(keyName))"
  }

  private static func malformed(_ complaint: String) -> PushError {
    PushError(.configuration, "The connection string can't be read: \(complaint).")
  }
}
