import Foundation
import StandIns
import TestSupport
import Testing

@testable import Origin

/// What is on the disk when an upload has its name, and when its client gets the 201: as strace(1) sees it.
@Suite(.timeLimit(.minutes(2))) struct UploadDurabilitySystemTests {
  private static let variable = "RICHPUSH_TEST_TRACED_UPLOAD"

  private static func canTrace() -> Bool {
    (try? StartedProgram.run("/usr/bin/strace", ["-o", "/dev/null", "/bin/true"]))?.exitCode == 0
  }

  @Test(.enabled("needs strace, and the right to trace processes") { canTrace() })
  func `an upload is on the disk before it has its name, and its name before the 201`()
    async throws
  {
    let scratch = try Scratch()
    let output = scratch.path + "/trace"
    let traced = try StartedProgram.run(
      "/usr/bin/strace",
      [
        "-f", "-y", "--seccomp-bpf", "-e",
        "trace=/^(f(data)?sync|syncfs|rename.*|link.*|unlink.*)$", "-s", "64", "-o", output,
        try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"),
        "--testing-library", "swift-testing", "--filter", "UploadDurabilitySystemTests/.?uploads",
      ],
      environment: ProcessInfo.processInfo.environment.merging([Self.variable: "1"]) { $1 })
    try #require(traced.exitCode == 0)
    let calls = Call.all(in: try String(contentsOfFile: output, encoding: .utf8))
    for name in ["new.txt", "replaced.txt"] {
      let named = calls.indices.filter { calls[$0].gives(name) }
      // `replaced.txt` twice.
      #expect(named.count == (name == "replaced.txt" ? 2 : 1), "\(name)")
      for (index, end) in zip(named, named.dropFirst() + [calls.count]) {
        let call = calls[index]
        #expect(
          calls[..<index].contains { $0.synchronizes(call.source) }, "the bytes of \(name): \(call)"
        )
        let rest = calls[index..<end]
        #expect(
          rest.contains { $0.synchronizes(folderOf: name) }, "the name \(name): \(call)")
      }
    }
    // The mark of the end of each, after its 201.
    for name in ["new.txt", "replaced.txt"] {
      let mark = try #require(calls.lastIndex { $0.text.contains("mark-\(name)") })
      let last = try #require(calls.lastIndex { $0.gives(name) })
      #expect(
        calls[last..<max(last, mark)].contains { $0.synchronizes(folderOf: name) },
        "the name \(name) before the 201")
    }
  }

  @Test(.enabled(if: ProcessInfo.processInfo.environment[variable] != nil))
  func `uploads while it is traced`() async throws {
    try await TestServer.test { _, scratch in
      try scratch.installNote()
    } _: { server in
      for name in ["new.txt", "replaced.txt", "replaced.txt"] {
        let answer = try await server.execute(
          "PUT", "/api/assets/note/\(name)", as: "publisher", body: "content \(UUID().uuidString)")
        try #require((200..<300).contains(answer.status), "\(answer.detail ?? "")")
        unlink(server.scratch.path + "/mark-\(name)")
      }
    }
  }
}

/// A system call.
private struct Call: CustomStringConvertible {
  let text: String
  /// The strings that it was given.
  private let strings: [Substring]

  private init(_ text: String) {
    self.text = text
    strings = text.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 1 }.map(\.element)
  }

  /// The calls that have succeeded, in the order of their ends.
  static func all(in trace: String) -> [Call] {
    var begun: [Substring: Substring] = [:]
    var calls: [Call] = []
    for line in trace.split(separator: "\n") {
      let thread = line.prefix { $0 != " " }
      let rest = line.dropFirst(thread.count).drop { $0 == " " }
      if let end = rest.firstRange(of: " <unfinished ...>") {
        begun[thread] = rest[..<end.lowerBound]
      } else if rest.hasPrefix("<... "), let end = rest.firstRange(of: " resumed>") {
        calls.append(Call("\(begun.removeValue(forKey: thread) ?? "")\(rest[end.upperBound...])"))
      } else {
        calls.append(Call(String(rest)))
      }
    }
    return calls
  }

  var description: String { text }

  /// What had another name, or none, before.
  var source: Substring { strings.first ?? "" }

  /// Whether it gives a file of the drop folder this name.
  func gives(_ name: String) -> Bool {
    (text.hasPrefix("rename") || text.hasPrefix("link"))
      && strings.count == 2 && (strings[1] == name || strings[1].hasSuffix("/assets/note/" + name))
  }

  /// Whether it makes a file's bytes durable, or those of all files.
  func synchronizes(_ file: Substring) -> Bool {
    if text.hasPrefix("syncfs(") { return true }
    guard text.hasPrefix("fsync(") || text.hasPrefix("fdatasync(") else { return false }
    return text.contains("/\(file.split(separator: "/").last ?? file)>")
  }

  /// Whether it makes the names in the drop folder durable.
  func synchronizes(folderOf name: String) -> Bool {
    text.hasPrefix("syncfs(") || text.hasPrefix("fsync(") && text.contains("/assets/note>")
  }
}
