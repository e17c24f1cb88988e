import Foundation
import StandIns
import Testing

/// HTTPS by the server itself.
@Suite(.timeLimit(.minutes(5))) struct CertificateTests {
  @Test func `SIGHUP takes over another certificate, and a bad one changes nothing`() async throws {
    let (first, second) = (try StandIn("hub"), try StandIn("apns"))
    let scratch = try Scratch()
    func install(_ authority: StandIn) throws {
      for (file, name) in [("leaf.pem", "cert.pem"), ("leaf.key", "key.pem")] {
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: authority.folder + "/" + file)))
        try scratch.drop(bytes, as: name)
      }
    }
    try install(first)
    let folder = scratch.folder.path
    let server = try Child(
      "richpush",
      ["serve", "--demo", "--listen", "127.0.0.1:0", "--data", folder + "/var"]
        + ["--assets", folder, "--plugins", folder]
        + ["--tls-certificate", folder + "/cert.pem", "--tls-key", folder + "/key.pem"])
    var lines = server.lines.makeAsyncIterator()
    let line = await lines.next() ?? ""
    let address = try #require(line.split(separator: " ").last, "\(server.errors)")
    #expect(address.hasPrefix("https://"))

    func isTrusted(by authority: StandIn) async throws -> Bool {
      let answer = try await Child.run(
        "/usr/bin/curl", ["-s", "--cacert", authority.certificates, "\(address)/healthz"])
      return answer.output == ["ok"]
    }
    #expect(try await isTrusted(by: first))
    #expect(try await !isTrusted(by: second))
    try install(second)
    server.send(SIGHUP)
    try await eventually("the new certificate is shown") { try await isTrusted(by: second) }
    try scratch.drop(Array("no certificate".utf8), as: "cert.pem")
    server.send(SIGHUP)
    try await eventually("the bad one is complained about") {
      server.errors.contains("nothing was reloaded")
    }
    #expect(try await isTrusted(by: second))
    server.send(SIGTERM)
    #expect(await server.exitCode() == 0)
  }
}
