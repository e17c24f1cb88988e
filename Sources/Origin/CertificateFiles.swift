import Glibc
import HTTP
package import Media
import PluginHost
import Primitives

/// The PEM files of a certificate, followed by its issuers', and of its private key.
package struct CertificateFiles: Sendable, Equatable {
  /// The file of the certificates.
  package let certificate: String
  /// The file of the key.
  package let key: String
}

/// The files of certificates, opened at one time.
struct OpenCertificates {
  /// A path with what was opened there.
  struct Entry {
    let path: String
    var file: FileDescriptor?
    private(set) var failure: Errno?

    init(_ path: String) {
      self.path = path
      // Not one that waits until somebody writes to it.
      do throws(Errno) { file = try FileDescriptor(path, O_RDONLY | O_NONBLOCK | O_NOCTTY) } catch {
        failure = error
      }
    }
  }

  /// The certificate and the key of each pair, in turn.
  private(set) var entries: [Entry]

  /// Opens all files, which may wait for a disk.
  init(_ files: [CertificateFiles]) {
    entries = files.flatMap { [$0.certificate, $0.key] }.map(Entry.init)
  }

  /// Opens what only root can read, for a server that changed to another user.
  mutating func open(asRootBy launcher: PluginLauncher) async {
    for index in entries.indices where entries[index].failure?.rawValue == EACCES {
      entries[index].file = await launcher.open(rootFile: index)
    }
  }

  /// More than any chain of certificates has.
  private static let largest = 1 << 20

  /// Facts about the files, nil for one that is not open; others than before if one was replaced or written to.
  var facts: [FileFacts?] {
    entries.map { entry in (try? entry.file?.status()).map(FileFacts.init) }
  }

  /// The texts of the files.
  func pairs() throws(OperatorError) -> [TLSKeyPair] {
    let texts = try entries.map { entry throws(OperatorError) in try Self.text(of: entry) }
    return stride(from: 0, to: texts.count, by: 2).map {
      TLSKeyPair(certificate: texts[$0], key: texts[$0 + 1])
    }
  }

  private static func text(of entry: Entry) throws(OperatorError) -> String {
    let cause: String
    do throws(Errno) {
      guard let file = entry.file else { throw entry.failure ?? Errno(rawValue: EIO) }
      let bytes = try file.readAll(limit: largest)
      if let text = String(validating: bytes, as: UTF8.self) { return text }
      cause = "it is no text"
    } catch { cause = "\(error)" }
    throw OperatorError("the file \(entry.path) cannot be read: \(cause)")
  }
}

/// What differs once a file was replaced or written to.
struct FileFacts: Equatable, Sendable {
  private let numbers: [Int]

  init(_ status: stat) {
    numbers = [
      Int(truncatingIfNeeded: status.st_dev), Int(truncatingIfNeeded: status.st_ino),
      Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
      status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
    ]
  }
}

extension OriginConfiguration {
  /// Serves HTTPS with certificates for different kinds of keys, each with the key in the same place of `keys`.
  ///
  /// - Throws: `OperatorError` if their numbers differ.
  package mutating func useCertificates(
    _ certificates: [String], keys: [String]
  ) throws(OperatorError) {
    guard certificates.count == keys.count else {
      throw OperatorError(
        "--tls-certificate and --tls-key must be used together, one key for each certificate in the same "
          + "order: there are \(certificates.count) and \(keys.count)")
    }
    self.certificates = zip(certificates, keys).map { CertificateFiles(certificate: $0, key: $1) }
  }

  /// The certificates and keys in open files; nil if none are configured.
  func identity(of opened: OpenCertificates, tickets: TLSTicketKeys) throws -> TLSIdentity? {
    if certificates.isEmpty { return nil }
    return try TLSIdentity(try opened.pairs(), tickets: tickets)
  }
}
