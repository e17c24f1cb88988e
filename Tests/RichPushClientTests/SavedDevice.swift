import Foundation
import RichPushClient

/// What the app gives its extension, in a shared keychain: this device's token, no password.
struct SavedDevice: Codable {
  let server: URL
  let user: String
  let id: String
  let token: String

  /// Registers the device when the user signs in.
  static func signIn(
    at server: URL, as user: String, password: String, pushToken: String
  ) async throws -> SavedDevice {
    var client = RichPushClient(endpoint: server, user: user, password: password)
    let id = try await client.register(handle: pushToken)
    client.device = id
    return SavedDevice(server: server, user: user, id: id, token: try await client.deviceToken())
  }

  var client: RichPushClient {
    RichPushClient(endpoint: server, user: user, device: id, token: token)
  }

  /// The media as a file that iOS can attach; the fetch is the device's receipt.
  func attachment(of notification: Int) async throws -> URL {
    let file = try await client.download(notification, options: MediaOptions(profile: "ios"))
    let endings = [
      "image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "audio/mpeg": "mp3",
      "audio/wav": "wav", "audio/mp4": "m4a",
    ]
    let url = file.url.appendingPathExtension(endings[file.contentType] ?? "bin")
    try FileManager.default.moveItem(at: file.url, to: url)
    return url
  }
}
