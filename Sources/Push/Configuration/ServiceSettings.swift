import FoundationEssentials

/// Reads settings from the environment; errors name the variable.
struct EnvironmentSettings {
  private let environment: [String: String]

  init(_ environment: [String: String]) { self.environment = environment }

  /// A variable's text; empty counts as missing.
  func optional(_ name: String) -> String? {
    environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// A required variable; `purpose` tells in the error what it is for.
  func required(_ name: String, _ purpose: String) throws(PushError) -> String {
    guard let text = optional(name) else {
      throw PushError(.configuration, "\(name) is not set: \(purpose).")
    }
    return text
  }

  /// A secret from the variable itself, or from the file that `<name>_FILE` names.
  func secret(_ name: String, _ purpose: String) throws(PushError) -> String {
    let fileName = name + "_FILE"
    switch (optional(name), optional(fileName)) {
    case (let text?, nil): return text
    case (nil, .some):
      let text = try file(fileName, purpose)
      return String(text.reversed().drop(while: \.isWhitespace).reversed())
    case (nil, nil):
      throw PushError(.configuration, "Neither \(name) nor \(fileName) is set: \(purpose).")
    case (.some, .some):
      throw PushError(.configuration, "\(name) and \(fileName) are both set; only one may be.")
    }
  }

  /// The text of the file that a variable names.
  func file(_ name: String, _ purpose: String) throws(PushError) -> String {
    let path = try required(name, purpose)
    guard let data = try? Data(contentsOf: URL(filePath: path)) else {
      throw PushError(.configuration, "\(name) names \(path), which can't be read.")
    }
    return String(decoding: data, as: UTF8.self)
  }

  /// Runs `body`; prefixes the reason of its error with the variable's name.
  func naming<Value>(
    _ name: String, _ body: @autoclosure () throws(PushError) -> Value
  ) throws(PushError) -> Value {
    do {
      return try body()
    } catch {
      throw PushError(error.code, "\(name): \(error.reason)")
    }
  }
}

/// The settings of Apple's push service.
struct APNsSettings: Sendable {
  private static let environments = [
    "production": "https://api.push.apple.com",
    "sandbox": "https://api.sandbox.push.apple.com",
  ]

  let key: APNsKey
  let topic: String
  let endpoints: [String]

  init(_ settings: EnvironmentSettings) throws(PushError) {
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
    return try PushConfiguration.words(in: settings.optional(name) ?? "production").map {
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

/// The settings of Firebase.
struct FCMSettings: Sendable {
  let credentials: FCMCredentials
  let endpoint: String
  let kind: FCMMessageKind

  init(_ settings: EnvironmentSettings) throws(PushError) {
    let file = "RICHPUSH_FCM_CREDENTIALS_FILE"
    let json = try settings.file(file, "the service account's JSON file")
    credentials = try settings.naming(file, try FCMCredentials(json: json))
    let url = settings.optional("RICHPUSH_FCM_ENDPOINT") ?? "https://fcm.googleapis.com"
    guard url.hasPrefix("https://") else {
      throw PushError(.configuration, "RICHPUSH_FCM_ENDPOINT has to begin with https://.")
    }
    endpoint = url.hasSuffix("/") ? String(url.dropLast()) : url
    let name = settings.optional("RICHPUSH_FCM_MESSAGES") ?? FCMMessageKind.data.rawValue
    guard let kind = FCMMessageKind(rawValue: name) else {
      throw PushError(
        .configuration,
        "RICHPUSH_FCM_MESSAGES is \"\(name)\"; choose from "
          + FCMMessageKind.allCases.map(\.rawValue).joined(separator: ", ") + ".")
    }
    self.kind = kind
  }
}

/// The settings of a webhook.
struct WebhookSettings: Sendable {
  let url: String
  let secret: WebhookSecret

  /// Reads `<prefix>_URL` and `<prefix>_SECRET`, such as `RICHPUSH_WEBHOOK_URL`.
  init(
    _ settings: EnvironmentSettings, _ prefix: String, for what: String
  ) throws(PushError) {
    url = try settings.required(prefix + "_URL", "the address that \(what) are posted to")
    guard url.hasPrefix("https://") || Self.isLocal(url) else {
      throw PushError(
        .configuration,
        "\(prefix)_URL has to begin with https://; http:// is for this machine only.")
    }
    let name = prefix + "_SECRET"
    let text = try settings.secret(name, "the receiver checks signatures with it")
    secret = try settings.naming(name, try WebhookSecret(text))
  }

  /// The webhook.
  func webhook(trustAnchor: String?, clock: any PushClock) throws(PushError) -> Webhook {
    try Webhook(url: url, secret: secret, trustAnchor: trustAnchor, clock: clock)
  }

  private static func isLocal(_ url: String) -> Bool {
    ["http://127.0.0.1", "http://localhost", "http://[::1]"].contains { address in
      guard url.hasPrefix(address) else { return false }
      return url.dropFirst(address.count).first.map { ":/".contains($0) } ?? true
    }
  }
}
