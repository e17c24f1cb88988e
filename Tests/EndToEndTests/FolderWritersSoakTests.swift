import Foundation
import RichPushClient
import Synchronization
import Testing
import Waiting

/// Programs that write into the folder as real ones do: they pause, and spell names in any of Unicode's forms.
///
/// With a fixed seed for 20 seconds each; in `make soak` with a random one, which is printed, for five minutes.
@Suite(.timeLimit(.minutes(30))) struct FolderWritersSoakTests {
  private static let time = Duration.seconds(Soak.amount(short: 20, long: 300))
  private static let seed: UInt64 = Soak.isLong ? .random(in: .min ... .max) : 39

  // MARK: - Writers that pause

  @Test func `a file whose writer pauses anywhere is one notification, with all of the file`()
    async throws
  {
    print("seed \(Self.seed)")
    try await RunningServer.lend(flags: ["--demo", "--publish-as", "shop"]) { server in
      let end = ContinuousClock.now + Self.time
      let all = try await withThrowingTaskGroup(of: [PausedFile].self) { writers in
        for writer in 0..<8 {
          writers.addTask { try await Self.write(writer, in: server.scratch, until: end) }
        }
        return try await writers.reduce(into: []) { $0 += $1 }
      }
      let alice = server.client("alice")
      var wrong: [String] = []
      // Files that changed often settle for a minute.
      for _ in 0..<1200 {
        let inbox = try await Self.inbox(of: alice)
        wrong = all.compactMap { $0.problem(with: inbox[$0.message] ?? []) }
        if wrong.isEmpty { break }
        try await Task.sleep(for: .milliseconds(100))
      }
      #expect(wrong.isEmpty, "\(wrong.count) of \(all.count): \(wrong.prefix(5))\n\(server.log)")
      #expect(all.count >= 8)
    }
  }

  /// One writer of several, which writes a file after the other.
  private static func write(
    _ writer: Int, in scratch: Scratch, until end: ContinuousClock.Instant
  ) async throws -> [PausedFile] {
    var random = SplitMix(seed: seed &+ UInt64(writer))
    var files: [PausedFile] = []
    while ContinuousClock.now < end {
      let file = PausedFile(number: writer + 8 * files.count, in: scratch, &random)
      try await file.write(&random)
      files.append(file)
    }
    return files
  }

  private static func inbox(
    of client: RichPushClient
  ) async throws -> [String: [RichNotification]] {
    var (found, before) = ([RichNotification](), Int?.none)
    repeat {
      let page = try await client.inbox(limit: 500, before: before).notifications
      found += page
      before = page.count == 500 ? page.last?.id : nil
    } while before != nil
    return Dictionary(grouping: found, by: \.message.text)
  }

  // MARK: - Names

  @Test func `names in all Unicode forms are one name each, and never removed while it exists`()
    async throws
  {
    print("seed \(Self.seed)")
    try await RunningServer.lend(flags: ["--demo", "--publish-as", "shop"]) { server in
      var random = SplitMix(seed: Self.seed)
      let end = ContinuousClock.now + Self.time
      var names: [SpelledName] = []
      while ContinuousClock.now < end {
        if names.count < 12 {
          let name = SpelledName(number: names.count, in: server.scratch, &random)
          try name.create(&random)
          names.append(name)
        } else {
          try names[Int.random(in: 0..<names.count, using: &random)].change(&random)
        }
        try await Task.sleep(for: .milliseconds(Int.random(in: 10...120, using: &random)))
      }
      let client = server.client("alice")
      let expected = Set(names.map(\.composed))
      try await eventually("the catalogue has each name once, ready") {
        let ready = try await client.assets(richType: "url", state: .ready).map(\.name)
        return Set(ready.filter { $0.contains("name") }) == expected
          && ready.count { $0.contains("name") } == expected.count
      }
      for name in names {
        try await eventually("\(name.composed) has the newest content") {
          let asset = try await client.asset(name.composed, richType: "url")
          return asset.bytes == name.newest().utf8.count
        }
      }
      // Sidecars in another form than their files.
      for name in names { try name.writeSidecar(&random) }
      try await eventually("each is sent once, to whom its sidecar says") {
        let messages = try await Self.inbox(of: client)
        return names.allSatisfy { messages["sidecar of \($0.number)"]?.count == 1 }
      }
      let removed = try await Self.removals(server)
      #expect(removed.filter { expected.contains($0) }.isEmpty)
    }
  }

  /// The names that events tell were removed.
  private static func removals(_ server: RunningServer) async throws -> [String] {
    var names: [String] = []
    let events = server.client("shop").assetEvents(after: "0")
    let latest = Mutex(ContinuousClock.now)
    let reading = Task {
      var found: [String] = []
      for try await event in events {
        latest.withLock { $0 = .now }
        if event.asset == nil { found.append(event.name) }
      }
      return found
    }
    while latest.withLock({ ContinuousClock.now - $0 }) < .seconds(2) {
      try await Task.sleep(for: .milliseconds(50))
    }
    reading.cancel()
    names = (try? await reading.value) ?? []
    return names
  }
}

/// A repeatable sequence of random numbers (Steele, Lea and Flood, 2014).
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// A file for the publish folder whose beginning is valid content, too.
private struct PausedFile: Sendable {
  let message: String
  private let path: String
  private let bytes: [UInt8]
  /// Its duration in seconds, if it is a sound; else it is a link.
  private let duration: Int?
  private let url: String

  init(number: Int, in scratch: Scratch, _ random: inout SplitMix) {
    message = "file \(number)"
    url = "https://example.com/\(number)/" + String(repeating: "a", count: 50)
    let isSound = Bool.random(using: &random)
    let folder = scratch.folder.path + "/assets/outbox/" + (isSound ? "sound" : "url")
    path = folder + "/\(number)." + (isSound ? "wav" : "txt")
    let seconds = Int.random(in: 2...5, using: &random)
    duration = isSound ? seconds : nil
    bytes = isSound ? Self.wave(seconds, number) : Array(url.utf8)
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  /// 8 bits, 8 kHz.
  private static func wave(_ seconds: Int, _ number: Int) -> [UInt8] {
    func little(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    let size = seconds * 8000
    return Array("RIFF".utf8) + little(36 + size, 4) + Array("WAVEfmt ".utf8) + little(16, 4)
      + little(1, 2) + little(1, 2) + little(8000, 4) + little(8000, 4) + little(1, 2)
      + little(8, 2) + Array("data".utf8) + little(size, 4)
      + (0..<size).map { UInt8(truncatingIfNeeded: $0 / 7 * (number + 3)) }
  }

  /// Writes it in up to four pieces, with pauses, in one of the ways of real programs.
  func write(_ random: inout SplitMix) async throws {
    let sidecar = Data(#"{"message":"\#(message)","to":["username:alice"]}"#.utf8)
    let way = Int.random(in: 0..<4, using: &random)
    let target = way == 2 ? path + ".part" : path
    if way != 3 { try sidecar.write(to: URL(filePath: path + ".notify.json")) }
    // A link is one from its host on, a sound from its header on.
    let least = duration == nil ? 21 : 60
    let cuts = (0..<Int.random(in: 1...3, using: &random))
      .map { _ in Int.random(in: least..<bytes.count, using: &random) }.sorted()
    var start = 0
    try Data().write(to: URL(filePath: target))
    var file = try FileHandle(forWritingTo: URL(filePath: target))
    for end in cuts + [bytes.count] {
      if start > 0 {
        if way != 1 { try file.close() }
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...2500, using: &random)))
        if way != 1 {
          file = try FileHandle(forWritingTo: URL(filePath: target))
          try file.seekToEnd()
        }
      }
      try file.write(contentsOf: bytes[start..<end])
      start = end
    }
    try file.close()
    if way == 2 { try FileManager.default.moveItem(atPath: target, toPath: path) }
    if way == 3 { try sidecar.write(to: URL(filePath: path + ".notify.json")) }
  }

  /// What is wrong with what was sent of it; nil if it was sent once, with all of it.
  func problem(with sent: [RichNotification]) -> String? {
    guard sent.count == 1, let only = sent.first else {
      return "\(message) was sent \(sent.count) times"
    }
    guard let duration else {
      return only.details.url.text == url ? nil : "\(message) is \(only.details)"
    }
    let lasts = only.details.duration.integer
    return lasts == duration ? nil : "\(message) is \(only.details), of \(duration) s"
  }
}

/// A name that can be spelled in several of Unicode's forms, with the files that have it.
private final class SpelledName {
  let number: Int
  let composed: String
  private let forms: [String]
  private let folder: String
  private var contents: [(form: Int, text: String)] = []
  private var version = 0

  init(number: Int, in scratch: Scratch, _ random: inout SplitMix) {
    self.number = number
    let parts = [
      "e\u{301}", "u\u{308}", "o\u{302}\u{301}", "a\u{323}\u{302}", "\u{1112}\u{1161}\u{11AB}",
      "A\u{30A}",
      "\u{304B}\u{3099}", "s\u{323}\u{307}", "c\u{327}", "\u{3B1}\u{301}", "\u{418}\u{306}",
    ]
    let text = (0..<3).map { _ in parts[Int.random(in: 0..<parts.count, using: &random)] }
    let plain = "\(number) name " + text.joined() + ".txt"
    composed = plain.precomposedStringWithCanonicalMapping
    // The last form is between the others: only a part of it is composed.
    let mixed =
      "\(number) name " + text[0].precomposedStringWithCanonicalMapping + text[1...].joined()
      + ".txt"
    forms = [composed, plain.decomposedStringWithCanonicalMapping, mixed]
    folder = scratch.folder.path + "/assets/url/"
  }

  /// The text of the file that was modified last.
  func newest() -> String { contents.last?.text ?? "" }

  private func path(_ form: Int) -> String { folder + forms[form] }

  /// A link whose length no other version has.
  private func text() -> String {
    version += 1
    return "https://example.com/\(number)/" + String(repeating: "v", count: version)
  }

  func create(_ random: inout SplitMix) throws {
    try write(Int.random(in: 0..<3, using: &random))
  }

  private func write(_ form: Int) throws {
    let text = text()
    let temporary = folder + ".\(number)"
    try Data(text.utf8).write(to: URL(filePath: temporary))
    guard rename(temporary, path(form)) == 0 else { throw CocoaError(.fileWriteUnknown) }
    contents.removeAll { Array(forms[$0.form].utf8) == Array(forms[form].utf8) }
    contents.append((form, text))
  }

  /// Renames the newest file to another form, replaces it, adds one in another form, or removes an older one.
  func change(_ random: inout SplitMix) throws {
    let form = Int.random(in: 0..<3, using: &random)
    switch Int.random(in: 0..<3, using: &random) {
    case 0:
      guard let last = contents.last else { return }
      // Of two names that are the same bytes, a rename does nothing.
      guard Array(forms[last.form].utf8) != Array(forms[form].utf8) else { return }
      guard rename(path(last.form), path(form)) == 0 else { throw CocoaError(.fileWriteUnknown) }
      contents.removeAll { Array(forms[$0.form].utf8) == Array(forms[form].utf8) }
      contents.removeAll { $0.form == last.form }
      contents.append((form, last.text))
    case 1: try write(form)
    default:
      guard contents.count > 1, let first = contents.first else { return }
      unlink(path(first.form))
      contents.removeFirst()
    }
  }

  func writeSidecar(_ random: inout SplitMix) throws {
    let form = Int.random(in: 0..<3, using: &random)
    let json = #"{"message":"sidecar of \#(number)","to":["username:alice"]}"#
    try Data(json.utf8).write(to: URL(filePath: path(form) + ".notify.json"))
  }
}
