import FoundationEssentials
import Primitives
import RichPushAPI
import Store

/// The secret of a pairing: 128 random bits, or a short one for people who type it.
struct PairingCode: Sendable {
  /// 22 characters of base64url, or 8 of ``alphabet``.
  let text: String

  /// Letters and digits that nobody takes for another.
  private static let alphabet = Array("ABCDEFGHJKMNPQRSTUVWXYZ23456789")
  private static let shortLength = 8

  private init(text: String) { self.text = text }

  /// A new one of 22 characters.
  static func long() -> PairingCode {
    PairingCode(text: Base64URL.encode((0..<16).map { _ in UInt8.random(in: .min ... .max) }))
  }

  /// A new one of 8 characters.
  static func short() -> PairingCode {
    PairingCode(
      text: String(
        (0..<shortLength).map { _ in alphabet[Int.random(in: alphabet.indices)] }))
  }

  /// What somebody has sent; nil if no code can be like it.
  ///
  /// In a short one, case, spaces and hyphens do not matter.
  init?(_ text: String) {
    guard text.utf8.count <= 64 else { return nil }
    let isBase64URL = text.utf8.allSatisfy {
      let character = Character(Unicode.Scalar($0))
      return $0 < 0x80 && (character.isLetter || character.isNumber || "-_".contains(character))
    }
    if text.utf8.count == 22, isBase64URL {
      self.text = text
      return
    }
    let typed = text.uppercased().filter { !$0.isWhitespace && $0 != "-" }
    guard typed.count == Self.shortLength, typed.allSatisfy(Self.alphabet.contains) else {
      return nil
    }
    self.text = typed
  }

  /// What the store keeps.
  var hash: Digest { Digest(of: text) }
}

extension IssuedPairing {
  /// Makes a code for a user of a store, with a link to a server; nil if there is no such user.
  ///
  /// - Throws: `conflict` if the user has too many open ones.
  static func issue(
    for user: UserID, named name: String, at server: String, in store: Store
  ) async throws -> IssuedPairing? {
    let (code, short) = (PairingCode.long(), PairingCode.short())
    guard
      let pairing = try await store.pairings.addPairing(code.hash, short: short.hash, of: user)
    else { return nil }
    let link = "\(server)/app/#pair=\(code.text)"
    return IssuedPairing(
      id: pairing.id, user: name, code: code.text, shortCode: short.text, link: link,
      created: pairing.created, expires: pairing.expires, qrCode: QRCode(link)?.texts ?? [])
  }
}

extension PairingList {
  /// The open codes of a user of a store.
  static func open(
    of user: UserID, named name: String, in store: Store
  ) async throws -> PairingList {
    PairingList(
      pairings: try await store.pairings.pairings(of: user).map {
        Pairing(id: $0.id, user: name, created: $0.created, expires: $0.expires)
      })
  }
}
