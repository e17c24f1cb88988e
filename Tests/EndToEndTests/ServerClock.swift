import Foundation
import StandIns
import Testing

/// The wall clock of a server and its stand-ins, which a test sets: `Tests/StandIns/Services/clock.c`.
struct ServerClock {
  private let scratch: Scratch
  private let file: FileHandle
  /// What a program has to be started with.
  let environment: [String: String]

  /// A clock that begins at a time such as `2027-03-28T07:00:00Z`.
  init(_ time: String) async throws {
    scratch = try Scratch()
    let folder = scratch.folder
    let source = Package.root.appending(path: "Tests/StandIns/Services/clock.c").path
    let library = folder.appending(path: "clock.so").path
    let compiled = try await Child.run(
      "/usr/bin/cc", ["-shared", "-fPIC", "-O2", "-o", library, source])
    #expect(compiled.exitCode == 0, "\(compiled)")
    let ahead = try scratch.drop([UInt8](repeating: 0, count: 8), as: "clock")
    file = try FileHandle(forUpdating: ahead)
    environment = ["LD_PRELOAD": library, "CLOCK_FILE": ahead.path]
    try set(time)
  }

  /// Sets it; it goes on from there.
  func set(_ time: String) throws { try set(Date(time, strategy: .iso8601)) }

  /// Sets it; it goes on from there.
  func set(_ time: Date) throws {
    let ahead = Int64(time.timeIntervalSinceNow.rounded(.up))
    try file.seek(toOffset: 0)
    try withUnsafeBytes(of: ahead.littleEndian) { try file.write(contentsOf: Data($0)) }
  }

  /// What a server has to be started with that pushes to phones by this clock: a stand-in for a webhook.
  func environment(pushingTo phones: StandIn) -> [String: String] {
    environment.merging([
      "RICHPUSH_PUSH_CA": phones.certificates, "RICHPUSH_WEBHOOK_URL": phones.url + "/hook",
      "RICHPUSH_WEBHOOK_SECRET": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    ]) { $1 }
  }
}
