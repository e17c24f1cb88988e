import CGnuTLS
import Glibc

/// The files a plugin consists of, with the hash of them all.
struct Inventory {
  /// More files than this are no plugin's; reading them all would stall the server.
  static let mostFiles = 4096

  /// The stamps of every file and folder, so that a change of any of them is seen.
  let stamps: [FileStamp]
  /// The SHA-256 over names, modes and contents, in hexadecimal.
  let identity: String

  /// Reads a plugin's files.
  ///
  /// - Parameter roots: Its folder or its bare executable, and an executable that lives elsewhere.
  /// - Throws: ``ManifestReader/Fault`` when there are too many or one cannot be read.
  init(roots: [String]) throws(ManifestReader.Fault) {
    var stamps: [FileStamp] = []
    var lines: [String] = []
    for root in roots {
      var waiting = [root]
      while let path = waiting.popLast() {
        guard let stamp = FileStamp(path) else { continue }
        stamps.append(stamp)
        if stamps.count > Inventory.mostFiles {
          throw .init(reason: "it has more than \(Inventory.mostFiles) files")
        }
        if stamp.isFolder {
          waiting += Inventory.names(in: path).map { "\(path)/\($0)" }
        } else if stamp.isRegularFile {
          guard let digest = Inventory.digest(ofFile: path) else {
            throw .init(reason: "\(path) cannot be read")
          }
          lines.append("\(path.dropFirst(root.utf8.count)) \(stamp.mode) \(digest)")
        }
      }
    }
    self.stamps = stamps
    identity = Inventory.digest(of: lines.sorted().joined(separator: "\n"))
  }

  /// Hidden files (editors' leavings) and Python's compiled copies are no part of a plugin.
  static func names(in folder: String) -> [String] {
    FolderListing.texts(in: folder).filter { !$0.hasPrefix(".") && $0 != "__pycache__" }
  }

  private static func digest(of text: String) -> String {
    var hex = [CChar](repeating: 0, count: 65)
    cgnutls_sha256_hex(text, text.utf8.count, &hex)
    return String(decoding: hex.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// The SHA-256 of a file in hexadecimal; nil when it cannot be read.
  static func digest(ofFile path: String) -> String? {
    guard let file = Descriptor(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) else { return nil }
    var hash: gnutls_hash_hd_t?
    guard gnutls_hash_init(&hash, GNUTLS_DIG_SHA256) == 0, let hash else { return nil }
    var count = 0
    withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { buffer in
      repeat {
        count = read(file.number, buffer.baseAddress, buffer.count)
        if count > 0 { gnutls_hash(hash, buffer.baseAddress, count) }
      } while count > 0
    }
    var digest = [UInt8](repeating: 0, count: 32)
    gnutls_hash_deinit(hash, &digest)
    guard count == 0 else { return nil }
    return digest.map { byte in
      let digits = String(byte, radix: 16)
      return digits.utf8.count == 1 ? "0" + digits : digits
    }.joined()
  }
}
