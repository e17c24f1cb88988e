import FoundationEssentials
import Synchronization

@testable import HTTP

/// A server for the length of one test, which answers with a closure.
struct Served {
  let server: Server
  let folder: String
  var port: Int { server.port }

  struct Answering: Responder {
    let closure: @Sendable (Request) -> Answer
    func answer(_ request: Request) -> Answer { closure(request) }
  }

  /// Starts a server, lets the test talk to it, and stops it.
  static func with<R>(
    _ answer: @escaping @Sendable (Request) -> Answer,
    limits: ServerConfiguration.Limits = .init(), threads: Int = 2, tls: TLSIdentity? = nil,
    test: (Served) async throws -> R
  ) async throws -> R {
    let folder =
      "\(FileManager.default.temporaryDirectory.path)/http-\(UInt64.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let configuration = ServerConfiguration(threads: threads, tls: tls, limits: limits)
    let server = try Server(configuration, responder: Answering(closure: answer), log: { _ in })
    do {
      let result = try await test(Served(server: server, folder: folder))
      await server.stop(grace: .zero)
      return result
    } catch {
      await server.stop(grace: .zero)
      throw error
    }
  }

  /// Writes a file and tells what serves it.
  static func content(_ bytes: [UInt8], in folder: String, name: String = "file") throws -> Content
  {
    let path = "\(folder)/\(name)"
    try Data(bytes).write(to: URL(filePath: path))
    return Content(
      path: path, size: bytes.count, mediaType: "image/png", etag: "abc",
      lastModified: Date(timeIntervalSince1970: 784_111_777), fileName: "beach \u{e9}.png")
  }

  static let pattern: [UInt8] = (0..<1000).map { UInt8(truncatingIfNeeded: $0 * 7) }
}
