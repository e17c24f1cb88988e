import Foundation
import RichPushClient
import Synchronization

/// Many files of every kind, that come into a server's drop folder in every way, and change there.
final class FileCrowd: Sendable {
  /// What the catalogue must say of a file.
  struct Expectation: Sendable {
    let isGood: Bool
    let sha256: String?

    /// Whether an asset is what was expected, and done with.
    func admits(_ asset: Asset) -> Bool {
      isGood
        ? asset.state == .ready && asset.sha256 == sha256
        : asset.state == .refused && asset.reason != nil
    }
  }

  private let source: String
  private let assets: String
  private let files: [String]
  private let count = Mutex(0)

  /// How many have been brought in so far.
  var arrived: Int { count.withLock { $0 } }

  /// Makes the files, beside the drop folder.
  init(count: Int, in scratch: Scratch) async throws {
    let source = try scratch.makeFolder("source").path
    (self.source, assets) = (source, scratch.folder.path + "/assets")
    let photo = try await Self.small("beach.jpg", in: scratch)
    let drawing = try await Self.small("logo.png", in: scratch)
    let chime = Array(try Package.bytes("assets/sound/chime.wav").prefix(44))
    var files: [String] = []
    for number in 0..<count {
      let mark = Array("file \(number / 2)".utf8)  // every second one is another's twin
      let (name, bytes): (String, [UInt8])
      switch number % 10 {
      case 0..<4: (name, bytes) = ("img/photo \(number).jpg", Kind.photo(photo, mark))
      case 4..<6: (name, bytes) = ("img/Zeichnung-\u{E4}\(number).png", Kind.drawing(drawing, mark))
      case 6: (name, bytes) = ("sound/klang\(number).wav", Kind.sound(chime, mark))
      case 7..<9:
        (name, bytes) = ("url/link\(number).url", Array("https://example.org/\(number / 2)\n".utf8))
      default: (name, bytes) = ("img/junk\(number).png", number % 20 == 9 ? [] : mark)
      }
      let url = URL(filePath: source + "/" + name)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(bytes).write(to: url)
      files.append(name)
    }
    self.files = files.shuffled()
  }

  /// Brings all of them in, a batch in each way, and changes some that are there.
  func come() async throws {
    let size = max(10, files.count / 40)
    for (index, start) in stride(from: 0, to: files.count, by: size).enumerated() {
      let batch = Array(files[start..<min(start + size, files.count)])
      switch index % 4 {
      case 0: try await copy(batch, with: "/bin/cp", [])
      case 1: try await copy(batch, with: "/usr/bin/rsync", ["-a"])
      case 2: try move(batch)
      default: try await writeSlowly(batch)
      }
      count.withLock { $0 += batch.count }
      try change(batch)
    }
    try moveFolder()
  }

  private func copy(_ batch: [String], with program: String, _ flags: [String]) async throws {
    for (richType, names) in Dictionary(grouping: batch, by: { String($0.prefix { $0 != "/" }) }) {
      try FileManager.default.createDirectory(
        atPath: assets + "/" + richType, withIntermediateDirectories: true)
      let result = try await Child.run(
        program, flags + names.map { source + "/" + $0 } + [assets + "/" + richType + "/"])
      guard result.exitCode == 0 else { throw CrowdError(what: "\(program): \(result.errors)") }
    }
  }

  private func move(_ batch: [String]) throws {
    for name in batch { rename(source + "/" + name, assets + "/" + name) }
  }

  /// As scp does over a thin line: under the real name, piece by piece, several at once.
  private func writeSlowly(_ batch: [String]) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for name in batch {
        group.addTask { [source, assets] in
          let bytes = try Data(contentsOf: URL(filePath: source + "/" + name))
          try Data().write(to: URL(filePath: assets + "/" + name))
          guard let file = FileHandle(forWritingAtPath: assets + "/" + name) else {
            throw CrowdError(what: name)
          }
          for start in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 4)) {
            try file.write(
              contentsOf: bytes[start..<min(start + max(1, bytes.count / 4), bytes.count)])
            try await Task.sleep(for: .milliseconds(Int.random(in: 1...8)))
          }
          try file.close()
        }
      }
      try await group.waitForAll()
    }
  }

  /// Renames some, replaces some by others of their kind, and removes some.
  private func change(_ batch: [String]) throws {
    for name in batch where Int.random(in: 0..<5) == 0 {
      let path = assets + "/" + name
      switch Int.random(in: 0..<4) {
      case 0: unlink(path)
      case 1: rename(path, path.replacing("/img/", with: "/img/new "))
      case 2:
        guard let other = batch.first(where: { $0.prefix(7) == name.prefix(7) && $0 != name }),
          let bytes = FileManager.default.contents(atPath: assets + "/" + other)
        else { continue }
        try bytes.write(to: URL(filePath: path))
      default: utimes(path, nil)
      }
    }
  }

  /// A whole folder goes and comes.
  private func moveFolder() throws {
    rename(assets + "/sound", assets + "/../away")
    rename(assets + "/../away", assets + "/sound")
  }

  /// What the folder holds now, as the catalogue must show it.
  func expected() async throws -> [String: Expectation] {
    let sums = try await Child.run(
      "/usr/bin/find",
      [assets, "-mindepth", "2", "-type", "f", "-exec", "/usr/bin/sha256sum", "{}", "+"])
    var expected: [String: Expectation] = [:]
    for line in sums.output {
      let name = String(line.dropFirst(66 + assets.utf8.count + 1))
        .precomposedStringWithCanonicalMapping
      let isGood = !name.contains("junk")
      expected[name] = Expectation(isGood: isGood, sha256: isGood ? String(line.prefix(64)) : nil)
    }
    return expected
  }

  private static func small(_ sample: String, in scratch: Scratch) async throws -> [UInt8] {
    let small = scratch.folder.path + "/small-" + sample
    let made = try await Child.run(
      "img",
      ["render", Package.root.path + "/assets/img/" + sample, small, "--width", "64"])
    guard made.exitCode == 0 else { throw CrowdError(what: made.errors) }
    return [UInt8](try Data(contentsOf: URL(filePath: small)))
  }
}

struct CrowdError: Error {
  let what: String
}

/// Files of one kind that differ by a mark.
private enum Kind {
  /// A JPEG with the mark as its comment.
  static func photo(_ photo: [UInt8], _ mark: [UInt8]) -> [UInt8] {
    Array(photo[..<2]) + [0xFF, 0xFE, 0, UInt8(mark.count + 2)] + mark + photo[2...]
  }

  /// A PNG of one pixel-row's header with the mark as its text: chunks have a checksum (RFC 2083).
  static func drawing(_ drawing: [UInt8], _ mark: [UInt8]) -> [UInt8] {
    let chunk = Array("tEXtComment".utf8) + [0] + mark
    let length = UInt32(chunk.count - 4)
    return Array(drawing[..<33]) + length.bytes + chunk + checksum(chunk).bytes + drawing[33...]
  }

  /// A WAV whose samples are the mark.
  static func sound(_ head: [UInt8], _ mark: [UInt8]) -> [UInt8] {
    let samples = Array(repeatElement(mark, count: 64).joined().prefix(400))
    var head = head
    head.replaceSubrange(4..<8, with: UInt32(36 + samples.count).bytes.reversed())
    head.replaceSubrange(40..<44, with: UInt32(samples.count).bytes.reversed())
    return head + samples
  }

  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(UInt32.max) { sum, byte in
      (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in
        sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1
      }
    }
  }
}

extension UInt32 {
  /// Most significant byte first.
  fileprivate var bytes: [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: self >> (24 - 8 * $0)) }
  }
}
