import Foundation
import RichPushClient
import Testing
import Waiting

/// The package's file for Debian's logrotate.
@Suite(.timeLimit(.minutes(5))) struct LogrotateSystemTests {
  private static let program = "/usr/sbin/logrotate"

  /// The file, with these folders and this user in the place of the package's.
  private func configuration(for scratch: Scratch) throws -> String {
    let file = Package.root.appending(path: "packaging/debian/richpush.logrotate")
    let user = String(cString: try #require(getpwuid(getuid())).pointee.pw_name)
    let group = String(cString: try #require(getgrgid(getgid())).pointee.gr_name)
    var text = try String(contentsOf: file, encoding: .utf8)
    for (theirs, ours) in [
      ("/var/log/richpush/", scratch.folder.path + "/log/"),
      ("su richpush richpush", "su \(user) \(group)"),
      // Which is there if systemd runs.
      ("/run/systemd/system", scratch.folder.path),
    ] {
      #expect(text.contains(theirs), "\(theirs)")
      text = text.replacing(theirs, with: ours)
    }
    return text
  }

  @Test func `no line of the access log is lost or written twice while it is rotated`() async throws
  {
    let scratch = try Scratch()
    let log = try scratch.makeFolder("log").appending(path: "access.log")
    let file = try scratch.drop(Array(configuration(for: scratch).utf8), as: "rotate.conf")
    #expect(chmod(file.path, 0o644) == 0)
    try await RunningServer.lend(flags: ["--demo", "--access-log", log.path]) { server in
      // As `systemctl reload` does, by the unit's ExecReload.
      let reload = """
        #!/bin/sh
        [ "$*" = "reload richpush.service" ] && exec kill -HUP \(server.processIdentifier)

        """
      let systemctl = try scratch.drop(Array(reload.utf8), as: "bin/systemctl", executable: true)
      let path = systemctl.deletingLastPathComponent().path + ":/usr/sbin:/usr/bin:/sbin:/bin"
      func rotate(_ flag: String) async throws -> Child.Result {
        try await Child.run(
          Self.program, [flag, "--state", scratch.folder.path + "/state", file.path],
          environment: ["PATH": path])
      }
      let checked = try await rotate("-d")
      #expect(checked.exitCode == 0 && !checked.errors.contains("error:"), "\(checked.errors)")

      let sender = Task.detached {
        var count = 0
        while !Task.isCancelled {
          _ = try server.get("/healthz", "X-Request-Id: request-\(count)")
          count += 1
          await Task.yield()
        }
        return count
      }
      for number in 1...3 {
        try await eventually("there is something to rotate") { Self.size(of: log) > 0 }
        let rotated = try await rotate("-f")
        #expect(rotated.exitCode == 0 && rotated.errors.isEmpty, "\(rotated.errors)")
        let oldest = log.path + (number == 1 ? ".1" : ".\(number).gz")
        #expect(FileManager.default.fileExists(atPath: oldest), "\(oldest)")
      }
      try await eventually("a new file is begun") { Self.size(of: log) > 0 }
      sender.cancel()
      let count = try await sender.value
      var found: [String] = []
      try await eventually("all are logged") {
        found = try await Self.requests(in: log.deletingLastPathComponent())
        return found.count >= count
      }
      #expect(found.count == count && Set(found).count == count)
    }
  }

  private static func size(of file: URL) -> Int {
    (try? FileManager.default.attributesOfItem(atPath: file.path))?[.size] as? Int ?? 0
  }

  /// The IDs of our requests in all files of a folder, also in those that are compressed.
  private static func requests(in folder: URL) async throws -> [String] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    let lines = try await Child.run("/bin/zcat", ["-f"] + names.map { folder.path + "/" + $0 })
    return lines.output.compactMap {
      $0.firstMatch(of: #/"id":"(request-\d+)"/#).map { String($0.1) }
    }
  }
}
