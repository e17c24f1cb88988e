import Foundation
import Testing

/// What the kernel says of a process (proc(5)).
struct ProcessFacts: Sendable {
  let pid: Int32
  /// KiB of memory that is its own: what it shares with its programs' files is left out.
  let memory: Int
  let threads: Int
  let descriptors: Int
  /// For how many its table has room.
  let descriptorRoom: Int
  /// `R`, `S`, `Z` for a zombie.
  let state: String
  /// Its words, the program first.
  let words: [String]

  /// Nil when there is no such process.
  init?(_ pid: Int32) {
    guard let status = Self.text(pid, "status"), let words = Self.text(pid, "cmdline") else {
      return nil
    }
    let lines = status.split(separator: "\n").map { $0.split(separator: ":", maxSplits: 1) }
    func value(_ name: String) -> String? {
      lines.first { $0[0] == name }?.last?.split(whereSeparator: \.isWhitespace).first
        .map(String.init)
    }
    self.pid = pid
    memory = value("RssAnon").flatMap { Int($0) } ?? 0
    threads = value("Threads").flatMap { Int($0) } ?? 0
    state = value("State") ?? ""
    descriptors =
      (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd"))?.count ?? 0
    descriptorRoom = value("FDSize").flatMap { Int($0) } ?? 0
    self.words = words.split(separator: "\0").map(String.init)
  }

  /// It and everything below it.
  static func family(of pid: Int32) -> [ProcessFacts] {
    guard let facts = ProcessFacts(pid) else { return [] }
    return [facts] + children(of: pid).flatMap(family)
  }

  /// What it has started and what still runs, or is a zombie.
  static func children(of pid: Int32) -> [Int32] {
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
    return tasks.flatMap { task in
      (text(pid, "task/\(task)/children") ?? "").split(separator: " ").compactMap { Int32($0) }
    }
  }

  /// Every process whose words are these.
  static func running(_ words: [String]) -> [ProcessFacts] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { Int32($0) }.compactMap(ProcessFacts.init).filter { $0.words == words }
  }

  /// The names of the files that it has mapped, such as `libsqlite3.so.0.8.6`.
  static func mappedFiles(of pid: Int32) throws -> Set<String> {
    // `Data(contentsOf:)` ends after the first page.
    let maps = try FileHandle(forReadingFrom: URL(filePath: "/proc/\(pid)/maps")).readToEnd()
    let lines = String(decoding: try #require(maps), as: UTF8.self).split(separator: "\n")
    return Set(lines.compactMap { $0.split(separator: "/").last.map(String.init) })
  }

  private static func text(_ pid: Int32, _ file: String) -> String? {
    (try? Data(contentsOf: URL(filePath: "/proc/\(pid)/\(file)"))).map {
      String(decoding: $0, as: UTF8.self)
    }
  }
}
