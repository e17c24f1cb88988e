import COpenSSL

/// Encryption of pushes for their receivers: the content coding `aes128gcm` with one record (RFC 8188), and
/// keys agreed by Diffie-Hellman (RFC 8291).
enum WebPushMessage {
  /// The most bytes of a plaintext: then the message has 4,096, which every push service accepts (RFC 8030,
  /// section 7.2).
  static let limit = PushPayload.webLimit
  /// The lengths to which plaintexts are padded, so that a push service learns little from their length.
  ///
  /// Mozilla passes at most 2,641 bytes on to Firefox on Android.
  private static let paddedLengths = [512, 1024, 2048, 2640, limit]
  private static let recordSize: UInt32 = 4096
  /// Salt, record size, length of the key, key.
  private static let headerLength = 16 + 4 + 1 + 65
  private static let tagLength = 16

  /// Encrypts a text with new keys, padded.
  ///
  /// - Throws: a `PushError` if it is longer than ``limit``.
  static func encrypt(_ plaintext: [UInt8], for keys: WebPushKeys) throws(PushError) -> [UInt8] {
    guard let length = paddedLengths.first(where: { plaintext.count <= $0 }) else {
      throw PushError(.key, "The push has \(plaintext.count) bytes; Web Push takes \(limit).")
    }
    return try encrypt(
      plaintext + [2] + [UInt8](repeating: 0, count: length - plaintext.count), for: keys,
      sender: P256Key(), salt: Random.bytes(16))
  }

  /// Encrypts a record: the text, a 2, and padding.
  static func encrypt(
    _ record: [UInt8], for keys: WebPushKeys, sender: P256Key, salt: [UInt8]
  ) throws(PushError) -> [UInt8] {
    let derived = try ContentKeys(
      own: sender, other: keys.publicKey, receiver: keys.publicKey, sender: sender.publicKey,
      secret: keys.secret, salt: salt)
    var sealed = [UInt8](repeating: 0, count: record.count + tagLength)
    guard
      copenssl_aes128gcm_encrypt(derived.key, derived.nonce, record, record.count, &sealed)
    else { throw PushError(.key, "AES-128-GCM failed.") }
    let size = (0..<4).map { UInt8(truncatingIfNeeded: recordSize >> (24 - 8 * $0)) }
    return salt + size + [UInt8(sender.publicKey.count)] + sender.publicKey + sealed
  }

  /// Decrypts a message of one record for the holder of the private key; nil if it is not for these keys, or
  /// was changed.
  static func decrypt(_ message: [UInt8], key: P256Key, secret: [UInt8]) -> [UInt8]? {
    guard message.count > headerLength + tagLength, message[20] == 65, secret.count == 16 else {
      return nil
    }
    let sender = Array(message[21..<headerLength])
    let sealed = Array(message[headerLength...])
    guard
      let derived = try? ContentKeys(
        own: key, other: sender, receiver: key.publicKey, sender: sender, secret: secret,
        salt: Array(message[..<16]))
    else { return nil }
    var record = [UInt8](repeating: 0, count: sealed.count - tagLength)
    guard copenssl_aes128gcm_decrypt(derived.key, derived.nonce, sealed, sealed.count, &record),
      let end = record.lastIndex(where: { $0 != 0 }), record[end] == 2
    else { return nil }
    return Array(record[..<end])
  }
}

/// The key and the nonce of a message's only record (RFC 8291, section 3.4).
private struct ContentKeys {
  let key: [UInt8]
  let nonce: [UInt8]

  /// `other` is the point that the own key is combined with: the receiver's or the sender's.
  init(
    own: P256Key, other: [UInt8], receiver: [UInt8], sender: [UInt8], secret: [UInt8],
    salt: [UInt8]
  ) throws(PushError) {
    let shared = try own.agree(with: other)
    let input = try Self.derive(
      32, from: shared, salt: secret, info: Array("WebPush: info\0".utf8) + receiver + sender)
    key = try Self.derive(
      16, from: input, salt: salt, info: Array("Content-Encoding: aes128gcm\0".utf8))
    nonce = try Self.derive(
      12, from: input, salt: salt, info: Array("Content-Encoding: nonce\0".utf8))
  }

  private static func derive(
    _ count: Int, from key: [UInt8], salt: [UInt8], info: [UInt8]
  ) throws(PushError) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: count)
    guard
      copenssl_hkdf_sha256(
        salt, salt.count, key, key.count, info, info.count, &output, count)
    else { throw PushError(.key, "HKDF failed.") }
    return output
  }
}

/// A private key on the curve P-256.
struct P256Key: Sendable, Equatable {
  /// 32 bytes.
  let privateKey: [UInt8]
  /// The point, uncompressed: 65 bytes.
  let publicKey: [UInt8]

  /// A new key.
  init() throws(PushError) {
    // A number above the curve's order is drawn once in four thousand million times.
    for _ in 0..<8 {
      if let key = P256Key(try Random.bytes(32)) {
        self = key
        return
      }
    }
    throw PushError(.key, "No key could be generated.")
  }

  /// The key of a number; nil if that is not from 1 to below the curve's order.
  init?(_ privateKey: [UInt8]) {
    var point = [UInt8](repeating: 0, count: 65)
    guard privateKey.count == 32, copenssl_p256_public(privateKey, &point) else { return nil }
    (self.privateKey, publicKey) = (privateKey, point)
  }

  /// The secret that it shares with the holder of a point's key.
  func agree(with point: [UInt8]) throws(PushError) -> [UInt8] {
    var secret = [UInt8](repeating: 0, count: 32)
    guard point.count == 65, copenssl_p256_agree(privateKey, point, &secret) else {
      throw PushError(.key, "The subscription's key is not on the curve.")
    }
    return secret
  }

  /// ES256 (RFC 7518, section 3.4).
  func sign(_ message: [UInt8]) throws(PushError) -> [UInt8] {
    var signature = [UInt8](repeating: 0, count: 64)
    let problem = copenssl_es256_sign_raw(
      privateKey, publicKey, message, message.count, &signature)
    guard let problem else { return signature }
    throw PushError(.key, "The private key cannot sign: \(String(cString: problem)).")
  }
}

/// Random bytes for keys.
enum Random {
  static func bytes(_ count: Int) throws(PushError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    guard copenssl_random(&bytes, count) else {
      throw PushError(.key, "The system has no random numbers.")
    }
    return bytes
  }
}
