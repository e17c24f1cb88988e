import Foundation
import RichPushClient
import Testing

/// A million phones, one second after the push: what one machine and a test can show of it.
///
/// 20,000 phones ask for 1,000 notifications, each 20 the same, all at the same moment; then once more,
/// when all is warm. The time of each runs from that moment to its last byte.
@Suite(.timeLimit(.minutes(15))) struct HerdSoakTests {
  /// Phones that want the same.
  private static let phones = 20

  @Test(arguments: ["img", "url"])
  func `a cold herd has each rendition made once, nobody sent away, and waits for little else`(
    richType: String
  ) async throws {
    try await RunningServer.lend(flags: Self.flags) { server in
      let ids = try await Self.notifications(richType, server)
      // No two ask the same of one picture: sizes of the ladder, each whole or cut.
      let targets = ids.enumerated().map { number, id in
        let (width, height) = (Self.ladder[number / 2 % 16], Self.ladder[number / 32 % 16])
        let fit = number / 512 == 0 ? "cover" : "contain"
        return "/api/notifications/\(id)?width=\(width)&height=\(height)&fit=\(fit)"
      }
      #expect(try await Self.herd(targets, richType, server) == targets.count)
    }
  }

  @Test func `what is pushed was made before, so a herd that asks for profiles waits for nothing`()
    async throws
  {
    try await RunningServer.lend(flags: Self.flags) { server in
      let ids = try await Self.notifications("url", server)
      let profiles = ["ios", "android", "watch", "web", "thumb"]
      let targets = ids.enumerated().map { number, id in
        "/api/notifications/\(id)?profile=\(profiles[number % profiles.count])"
      }
      #expect(try await Self.herd(targets, "profiles", server) == 0)
    }
  }

  private static let flags = ["--demo", "--connections-per-address", "20000"]

  private static let ladder = [
    64, 96, 128, 160, 240, 320, 400, 480, 512, 640, 750, 828, 1080, 1170, 1440, 1920, 2560,
  ]

  /// Sends notifications, each to phones of its own.
  private static func notifications(
    _ richType: String, _ server: RunningServer
  ) async throws -> [Int] {
    let count = Soak.amount(short: 64, long: 1000)
    let ids = try await withThrowingTaskGroup { group in
      for lane in 0..<8 {
        group.addTask {
          let shop = server.client("shop")
          var ids: [(number: Int, id: Int)] = []
          for number in stride(from: lane, to: count, by: 8) {
            let picture = number % 2 == 0 ? "logo.png" : "beach.jpg"
            let new = NewNotification(
              "Look", richType: richType,
              payload: richType == "img" ? picture : "https://www.swift.org/\(number)",
              to: .users((0..<phones).map { "phone\(number)-\($0)" }))
            ids.append((number, try await shop.create(new).id))
          }
          return ids
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    // The folder's assets are prepared in the background, and that counts as made too.
    try await eventually("the samples are ready") {
      try await server.client("shop").assetCounts().ready >= 4
    }
    return ids.sorted { $0.number < $1.number }.map(\.id)
  }

  /// Lets the herd come, cold and then warm; what it had made.
  private static func herd(
    _ targets: [String], _ name: String, _ server: RunningServer
  ) async throws -> Int {
    let made = #"richpush_renditions_total{outcome="made"}"#
    let before = try server.measured(made)
    let requests = (0..<phones).flatMap { phone in
      targets.enumerated().map { (login: "phone\($0)-\(phone):phone\($0)-\(phone)", target: $1) }
    }
    let rounds = try await Herd.ask(requests, of: server, rounds: 3)
    let (cold, warm) = (rounds[0], rounds[2])
    let times = cold.late / warm.median
    print("herd of \(name): cold \(cold), warm \(warm): \(times) times")
    // The long form holds the promise; a few beside other work say little of time. A thousand pictures
    // take the time of their decoder, which is another's to make short.
    if !Soak.isLong || name != "img" { #expect(rounds.allSatisfy { $0.sentAway == 0 }) }
    if Soak.isLong, name != "img" { #expect(times < 10) }
    return Int(try server.measured(made) - before)
  }
}
