import Foundation
import StandIns
import Testing

/// A clock for a server and its stand-ins that a test sets, as libfaketime reads it from a file.
struct ServerClock {
  private let scratch: Scratch
  private var file: URL { scratch.folder.appending(path: "clock") }
  /// What a program has to be started with.
  let environment: [String: String]

  /// What a server has to be started through: the library passes something on in the environment of the program that it
  /// is loaded into first, behind which Swift does not find its arguments.
  static let wrapper = ["/usr/bin/env"]

  /// A clock that begins at a time such as `2027-03-28T07:00:00Z`.
  init(_ time: String) throws {
    let library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
    try #require(
      FileManager.default.fileExists(atPath: library), "make test-system installs libfaketime")
    scratch = try Scratch()
    environment = [
      "LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": scratch.folder.path + "/clock",
      "FAKETIME_NO_CACHE": "1",
      // How long something takes, and when files were changed, stays true.
      "DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1",
    ]
    try set(time)
  }

  /// Sets it; it goes on from there.
  func set(_ time: String) throws { try set(Date(time, strategy: .iso8601)) }

  /// Sets it; it goes on from there.
  func set(_ time: Date) throws {
    let ahead = String(format: "%+.0f", time.timeIntervalSinceNow)
    try ahead.write(to: file, atomically: true, encoding: .utf8)
  }

  /// What a server has to be started with that pushes to phones by this clock: a stand-in for a webhook.
  func environment(pushingTo phones: StandIn) -> [String: String] {
    environment.merging([
      "RICHPUSH_PUSH_CA": phones.certificates, "RICHPUSH_WEBHOOK_URL": phones.url + "/hook",
      "RICHPUSH_WEBHOOK_SECRET": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    ]) { $1 }
  }
}
