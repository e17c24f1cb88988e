import HTTP
import Push
import Store

/// The tutorial's `/api/register`: a user's devices.
struct Registrations: Sendable {
  let store: Store

  /// `POST /api/register?handle=<HEX>`: the id of this user's device with that push token.
  ///
  /// The tutorial's client cuts the first and the last character off the body, hence the quotes and
  /// no newline.
  func register(_ exchange: Exchange) async throws -> Response {
    guard let handle = try exchange.query("handle")["handle"] else {
      throw Refusal(400, "The query parameter handle is missing: the device token in hexadecimal.")
    }
    try Self.check(handle: handle)
    let id = try await store.registration(
      forHandle: handle.uppercased(), user: exchange.caller.id)
    return .bytes(200, Array("\"\(id)\"".utf8), type: "application/json")
  }

  /// `PUT /api/register/<id>`: an upsert, since the tutorial's client repeats a 410 for ever.
  func put(_ exchange: Exchange) async throws -> Response {
    let id = try Self.id(exchange)
    var members = try JSONMembers(exchange.body, ignoringCase: true)
    let platform = try members.string("platform") ?? ""
    let handle = try members.string("handle") ?? ""
    let tags = try members.strings("tags") ?? []
    guard Self.platforms.contains(platform) else {
      throw Refusal(
        400,
        "Platform is one of \(Self.platforms.joined(separator: ", ")), not \(platform.quoted).")
    }
    if platform == "apns" {
      try Self.check(handle: handle)
    } else if !(1...4096).contains(handle.utf8.count) {
      throw Refusal(400, "Handle is missing or has more than 4096 bytes.")
    }
    let user = exchange.caller
    let isOwn = try await store.putRegistration(
      id, user: user.id, platform: platform,
      handle: platform == "apns" ? handle.uppercased() : handle,
      tags: try Self.check(tags: tags, of: user.name))
    guard isOwn else {
      throw Refusal(403, "The registration \(id) is another user's: register anew.")
    }
    return .empty(200)
  }

  /// `DELETE /api/register/<id>`: 200, also for one that is gone already.
  func delete(_ exchange: Exchange) async throws -> Response {
    _ = try await store.removeRegistration(Self.id(exchange), user: exchange.caller.id)
    return .empty(200)
  }

  private static let platforms = ["apns", "gcm", "wns", "mpns"]

  private static func id(_ exchange: Exchange) throws(Refusal) -> String {
    guard let id = exchange.parameters.first, (1...64).contains(id.utf8.count),
      id.utf8.allSatisfy({ UserName.isValid(byte: $0) })
    else { throw Refusal(400, "A registration's id has from 1 to 64 letters, digits and “-”.") }
    return id
  }

  private static func check(handle: String) throws(Refusal) {
    let isHexadecimal = handle.utf8.allSatisfy { byte in
      Character(Unicode.Scalar(byte)).isHexDigit
    }
    guard isHexadecimal, !handle.isEmpty, handle.utf8.count.isMultiple(of: 2),
      handle.utf8.count <= 400
    else {
      throw Refusal(
        400,
        """
        The handle is not a hexadecimal device token. Since Xcode 11 [deviceToken description] \
        gives “{length = 32, bytes = 0x…}”: build the text from the token's bytes instead.
        """)
    }
  }

  private static func check(tags: [String], of user: String) throws(Refusal) -> [String] {
    let own = "username:" + user
    guard tags.count <= 60 else { throw Refusal(400, "A registration has at most 60 tags.") }
    var result = [own]
    for text in tags where text != own {
      let tag: Tag
      do { tag = try Tag(text) } catch { throw Refusal(400, "Tags: \(error)") }
      guard !tag.isReserved else {
        throw Refusal(400, "The tag \(text.quoted) is the server's to give.")
      }
      if !result.contains(text) { result.append(text) }
    }
    return result
  }
}
