import Foundation
import RichPushClient
import Testing

/// `/api/openapi.json` against the server that it describes.
@Suite(.timeLimit(.minutes(5))) struct DescriptionTests {
  @Test func `schemathesis finds nothing that the description does not say`() async throws {
    try await RunningServer.lend(flags: ["--connections-per-address", "100"]) { scratch in
      let data = scratch.folder.path + "/var"
      _ = try await Child.run(
        "richpush", ["user", "add", "alice", "--role", "publisher", "--data", data],
        input: "secret\n")
    } to: { server in
      let address = "http://127.0.0.1:\(server.port)"
      let judged = try await Tool.run(
        "schemathesis",
        [
          "run", address + "/api/openapi.json", "--url", address, "--auth", "alice:secret",
          "--phases", "examples,coverage,fuzzing", "--seed", "1",
          "--max-examples", "\(Soak.amount(short: 3, long: 100))",
          // Streams never end; guests' passwords are LoginTests', where too many wrong ones make 429.
          "--exclude-path-regex", "/stream$", "--exclude-checks",
          "ignored_auth,positive_data_acceptance", "--request-timeout", "20",
          "--generation-database", "none", "--no-color", "--warnings", "off",
        ])
      #expect(judged.exitCode == 0, "\(judged.output.suffix(150).joined(separator: "\n"))")
      #expect(judged.output.contains { $0.contains("No issues found") })
    }
  }

  @Test func `the description knows every method of every path, and who needs a password`()
    async throws
  {
    try await RunningServer.lend { server in
      let text = try server.get("/api/openapi.json", RunningServer.credentials("alice"))
      let document = try JSONDecoder().decode(JSONValue.self, from: Data(text.body))
      guard case .object(let paths) = document.paths else {
        Issue.record("there are no paths")
        return
      }
      #expect(paths.count > 15)
      for (path, item) in paths {
        guard case .object(let operations) = item else { continue }
        let target = path.replacing(/\{\w+\}/, with: "7")
        let options = try RawConnection(port: server.port).bytes(
          "OPTIONS \(target) HTTP/1.1\r\nConnection: close\r\n")
        let allow = String(decoding: options, as: UTF8.self).split(separator: "\r\n").first {
          $0.hasPrefix("Allow: ")
        }
        let methods = Set(allow?.dropFirst(7).components(separatedBy: ", ") ?? [])
        let described = Set(operations.keys.map { $0.uppercased() })
        #expect(
          methods.subtracting(["OPTIONS", "HEAD"]) == described.subtracting(["HEAD"]), "\(path)")
        for (method, operation) in operations {
          let answer = try RawConnection(port: server.port).bytes(
            "\(method.uppercased()) \(target) HTTP/1.1\r\nConnection: close\r\n")
          let isOpen = operation.security == .array([])
          let is401 = answer.starts(with: Array("HTTP/1.1 401 ".utf8))
          #expect(is401 != isOpen, "\(method) \(path)")
        }
      }
    }
  }
}
