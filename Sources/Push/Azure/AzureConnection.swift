import FoundationEssentials
import Primitives

/// The address and the key of a notification hub, from the portal's connection string.
package struct AzureConnection: Sendable, Equatable {
  /// `https://<namespace>/<hub>`, without a slash at its end.
  let hub: String
  let keyName: String
  let key: String

  /// Parses `Endpoint=sb://…/;SharedAccessKeyName=…;SharedAccessKey=…`; in any order.
  package init(connectionString: String, hub: String) throws(PushError) {
    var parts: [String: String] = [:]
    for part in connectionString.split(separator: ";") {
      guard let equals = part.firstIndex(of: "=") else {
        throw Self.malformed("\"Name=value\" parts separated by \";\" were expected")
      }
      let name = part[..<equals].lowercased().filter { !$0.isWhitespace }
      parts[name] = String(part[part.index(after: equals)...])
    }
    func part(_ name: String, _ form: String) throws(PushError) -> String {
      guard let text = parts[name.lowercased()], !text.isEmpty else {
        throw Self.malformed("the part \"\(name)=\(form)\" is missing")
      }
      return text
    }
    let endpoint = try part("Endpoint", "sb://…")
    guard let scheme = endpoint.firstRange(of: "://") else {
      throw Self.malformed("the part \"Endpoint=sb://…\" is missing")
    }
    let keyName = try part("SharedAccessKeyName", "…")
    let key = try part("SharedAccessKey", "…")
    let host = endpoint[scheme.upperBound...].prefix { $0 != "/" }
    let isNamed =
      !hub.isEmpty
      && hub.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }
    guard !host.isEmpty, isNamed else {
      throw Self.malformed("the host or the hub's name \"\(hub)\" is not valid in an address")
    }
    (self.hub, self.keyName, self.key) = ("https://\(host)/\(hub)", keyName, key)
  }

  /// The value of an `Authorization` field that is valid for the hub until `expiry`.
  ///
  /// The HMAC's key is the text of the key: it is not decoded, although it looks like Base64.
  func sharedAccessSignature(expiry: Date) -> String {
    let resource = PercentEncoding.encode(hub.lowercased())
    let seconds = Int(expiry.timeIntervalSince1970)
    let code = Signing.hmac(key: Array(key.utf8), Array("\(resource)\n\(seconds)".utf8))
    let signature = PercentEncoding.encode(Signing.base64(code))
    return "SharedAccessSignature sr=\(resource)&sig=\(signature)&se=\(seconds)"
      + "&skn=\(PercentEncoding.encode(keyName))"
  }

  private static func malformed(_ problem: String) -> PushError {
    PushError(.configuration, "The connection string can't be read: \(problem).")
  }
}

extension AzureConnection: PushServiceSettings {
  package static let variables: KeyValuePairs = [
    "RICHPUSH_AZURE_HUB": "azure, azure-…: the notification hub's name",
    "RICHPUSH_AZURE_CONNECTION_STRING":
      "azure, azure-…: the connection string as the portal shows it",
    "RICHPUSH_AZURE_CONNECTION_STRING_FILE": "azure, azure-…: a file with the connection string",
  ]

  package init(_ settings: EnvironmentSettings) throws(PushError) {
    let name = "RICHPUSH_AZURE_CONNECTION_STRING"
    let text = try settings.secret(name, "the hub's access policy shows it in the portal")
    let hub = try settings.required("RICHPUSH_AZURE_HUB", "the notification hub's name")
    self = try settings.naming(name, try AzureConnection(connectionString: text, hub: hub))
  }
}
