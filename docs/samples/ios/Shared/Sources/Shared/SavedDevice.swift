import Foundation
import RichPushClient

/// What the app gives its extension, in a shared keychain: this device's token, no password.
public struct SavedDevice: Codable, Equatable, Sendable {
  /// The server's address.
  public let server: URL
  /// The user whose device it is.
  public let user: String
  /// The ID of its registration.
  public let id: String
  /// Its token, with the rights of this device only.
  public let token: String

  /// Uses a code. The inbox can be read from then on; pushes come once there is a push token.
  public static func pair(_ link: PairingLink, name: String) async throws -> SavedDevice {
    let anybody = RichPushClient(endpoint: link.server, user: "", password: "")
    let paired = try await anybody.use(code: link.code, name: name)
    return SavedDevice(
      server: link.server, user: paired.user, id: paired.registration, token: paired.token)
  }

  /// A client with the rights of this device.
  public var client: RichPushClient {
    RichPushClient(endpoint: server, user: user, device: id, token: token)
  }

  /// Tells the server where pushes go. iOS gives an app its token at each start, sometimes another one.
  public func register(pushToken: Data) async throws {
    let handle = pushToken.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    try await client.register(id, handle: handle)
  }

  /// The media as a file that iOS can attach; the fetch is the device's receipt.
  public func attachment(of notification: Int) async throws -> URL {
    let file = try await client.download(notification, options: MediaOptions(profile: "ios"))
    let ending = AttachmentType.ending(of: file.contentType) ?? "bin"
    let url = file.url.appendingPathExtension(ending)
    try FileManager.default.moveItem(at: file.url, to: url)
    return url
  }
}

/// The kinds of files that iOS attaches, which it knows by their names' endings.
public enum AttachmentType {
  /// The ending for a media type; nil for what iOS shows no attachment of.
  public static func ending(of type: String) -> String? {
    [
      "image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "video/mp4": "mp4",
      "audio/mpeg": "mp3", "audio/wav": "wav", "audio/mp4": "m4a",
    ][String(type.prefix { $0 != ";" })]
  }
}
