import Foundation
import Store

@testable import Origin

/// The application in this process, without the demonstration, on a port of its own.
struct Site {
  let origin: Origin
  let configuration: OriginConfiguration
  let users: Users
  private let scratch: Scratch

  /// The user of each role; everybody's password is `secret`.
  static func user(_ role: Role) -> String { "the-\(role.rawValue)" }

  /// Starts it with a user of each role, and ends it after the test.
  static func lend(to test: (Site) async throws -> Void) async throws {
    let scratch = try Scratch()
    var configuration = try OriginConfiguration()
    configuration.port = 0
    configuration.data = scratch.path + "/data"
    configuration.assets = scratch.path + "/assets"
    configuration.plugins = scratch.path + "/plugins"
    for folder in [configuration.assets, configuration.plugins] {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }
    // `richpush-exec` is beside the program that runs the tests.
    configuration.programs =
      (try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") as NSString)
      .deletingLastPathComponent
    let origin = try Origin(configuration, log: Log { _ in })
    let users = try Users(data: configuration.data)
    let site = Site(
      origin: origin, configuration: configuration, users: users, scratch: scratch)
    do {
      for role in Role.allCases { try await site.add(user(role), role) }
      try await test(site)
      await origin.stop()
    } catch {
      await origin.stop()
      throw error
    }
  }

  /// Adds a user.
  func add(_ name: String, _ role: Role, password: String = "secret") async throws {
    try await users.add(name, password: password, role: role.rawValue)
  }

  /// The uploads that are in the data folder now.
  var uploads: [String] {
    let files = try? FileManager.default.subpathsOfDirectory(atPath: configuration.data)
    return (files ?? ["upload-?"]).filter { $0.contains("upload-") }
  }

  /// An `Authorization` field with its end of line.
  static func credentials(_ name: String, password: String = "secret") -> String {
    "Authorization: Basic " + Data("\(name):\(password)".utf8).base64EncodedString() + "\r\n"
  }

  func connect(from address: UInt32 = 1) -> RawConnection {
    RawConnection(port: origin.port, from: address)
  }
}
