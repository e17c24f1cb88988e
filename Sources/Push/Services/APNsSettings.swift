/// The settings of Apple's push service.
package struct APNsSettings: PushServiceSettings {
  package static let variables: KeyValuePairs = [
    "RICHPUSH_APNS_KEY_FILE": "apns: the .p8 file of the signing key",
    "RICHPUSH_APNS_KEY_ID": "apns: the key's ten-character ID",
    "RICHPUSH_APNS_TEAM_ID": "apns: the developer team's ten-character ID",
    "RICHPUSH_APNS_TOPIC": "apns: the app's bundle ID",
    "RICHPUSH_APNS_ENDPOINT": "apns: production (the default), sandbox, both, or https URLs",
  ]

  private static let environments = [
    "production": "https://api.push.apple.com",
    "sandbox": "https://api.sandbox.push.apple.com",
  ]

  let key: APNsKey
  let topic: String
  let endpoints: [String]

  package init(_ settings: EnvironmentSettings) throws(PushError) {
    let pem = try settings.file("RICHPUSH_APNS_KEY_FILE", "the .p8 file with the signing key")
    let keyID = try Self.identifier(settings, "RICHPUSH_APNS_KEY_ID", "the key's name at Apple")
    let teamID = try Self.identifier(settings, "RICHPUSH_APNS_TEAM_ID", "the developer team's id")
    topic = try settings.required("RICHPUSH_APNS_TOPIC", "the app's bundle id")
    key = try settings.naming(
      "RICHPUSH_APNS_KEY_FILE", try APNsKey(pem: pem, keyID: keyID, teamID: teamID))
    endpoints = try Self.endpoints(settings)
  }

  private static func identifier(
    _ settings: EnvironmentSettings, _ name: String, _ purpose: String
  ) throws(PushError) -> String {
    let text = try settings.required(name, purpose)
    guard text.count == 10, text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
      throw PushError(
        .configuration, "\(name) is \"\(text)\"; Apple's ids are ten letters and digits.")
    }
    return text
  }

  private static func endpoints(_ settings: EnvironmentSettings) throws(PushError) -> [String] {
    let name = "RICHPUSH_APNS_ENDPOINT"
    return try EnvironmentSettings.words(in: settings.optional(name) ?? "production").map {
      word throws(PushError) in
      let endpoint = environments[word] ?? (word.hasSuffix("/") ? String(word.dropLast()) : word)
      guard endpoint.hasPrefix("https://") else {
        throw PushError(
          .configuration,
          "\(name) has \"\(word)\"; use production, sandbox or an https address.")
      }
      return endpoint
    }
  }
}
