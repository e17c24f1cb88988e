import FoundationEssentials

/// What the environment says about Apple's push service.
struct APNsSettings: Sendable {
  private static let environments = [
    "production": "https://api.push.apple.com",
    "sandbox": "https://api.sandbox.push.apple.com",
  ]

  let key: APNsKey
  let topic: String
  let endpoints: [String]

  init(_ settings: Settings) throws(PushError) {
    let pem = try settings.file("RICHPUSH_APNS_KEY_FILE", "the .p8 file with the signing key")
    let keyID = try Self.identifier(settings, "RICHPUSH_APNS_KEY_ID", "the key's name at Apple")
    let teamID = try Self.identifier(settings, "RICHPUSH_APNS_TEAM_ID", "the developer team's id")
    topic = try settings.required("RICHPUSH_APNS_TOPIC", "the app's bundle id")
    key = try settings.naming("RICHPUSH_APNS_KEY_FILE") { () throws(PushError) in
      try APNsKey(pem: pem, keyID: keyID, teamID: teamID)
    }
    endpoints = try Self.endpoints(settings)
  }

  private static func identifier(
    _ settings: Settings, _ name: String, _ purpose: String
  ) throws(PushError) -> String {
    let text = try settings.required(name, purpose)
    guard text.count == 10, text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
      throw PushError(
        .configuration, "\(name) is \"\(text)\"; Apple's ids are ten letters and digits.")
    }
    return text
  }

  private static func endpoints(_ settings: Settings) throws(PushError) -> [String] {
    let name = "RICHPUSH_APNS_ENDPOINT"
    var endpoints: [String] = []
    for part in (settings.optional(name) ?? "production").split(separator: ",") {
      let word = String(part.filter { !$0.isWhitespace })
      let endpoint = environments[word] ?? (word.hasSuffix("/") ? String(word.dropLast()) : word)
      guard endpoint.hasPrefix("https://") else {
        throw PushError(
          .configuration,
          "\(name) has \"\(word)\"; it takes production, sandbox or https addresses.")
      }
      endpoints.append(endpoint)
    }
    return endpoints
  }
}
