/// The settings of Firebase.
package struct FCMSettings: PushServiceSettings {
  package static let variables: KeyValuePairs = [
    "RICHPUSH_FCM_CREDENTIALS_FILE": "fcm: the service account's JSON file from Firebase",
    "RICHPUSH_FCM_MESSAGES":
      "fcm, azure-fcmv1: data (the default) for apps with code, notification for others",
    "RICHPUSH_FCM_ENDPOINT": "fcm: another https URL than https://fcm.googleapis.com",
  ]

  let credentials: FCMCredentials
  let endpoint: String
  let kind: FCMMessageKind

  package init(_ settings: EnvironmentSettings) throws(PushError) {
    let file = "RICHPUSH_FCM_CREDENTIALS_FILE"
    let json = try settings.file(file, "the service account's JSON file")
    credentials = try settings.naming(file, try FCMCredentials(json: json))
    let url = settings.optional("RICHPUSH_FCM_ENDPOINT") ?? "https://fcm.googleapis.com"
    guard url.hasPrefix("https://") else {
      throw PushError(.configuration, "RICHPUSH_FCM_ENDPOINT has to begin with https://.")
    }
    endpoint = url.hasSuffix("/") ? String(url.dropLast()) : url
    kind = try FCMMessageKind(settings)
  }
}

extension FCMMessageKind {
  /// Reads `RICHPUSH_FCM_MESSAGES`.
  init(_ settings: EnvironmentSettings) throws(PushError) {
    let name = settings.optional("RICHPUSH_FCM_MESSAGES") ?? Self.data.rawValue
    guard let kind = Self(rawValue: name) else {
      throw PushError(
        .configuration,
        "RICHPUSH_FCM_MESSAGES is \"\(name)\"; choose from "
          + Self.allCases.map(\.rawValue).joined(separator: ", ") + ".")
    }
    self = kind
  }
}
