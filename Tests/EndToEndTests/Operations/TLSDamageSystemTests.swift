import Foundation
import Testing

/// What clients of TLS send, damaged, and the server's side of it with AddressSanitizer: Tests/Fuzz/TLSDamage.c.
@Suite(.timeLimit(.minutes(30))) struct TLSDamageSystemTests {
  @Test(arguments: ["ec", "rsa"])
  func `changed, cut off and endless handshakes and records do no harm`(kind: String) async throws {
    let certificate = try await TemporaryCertificate(days: -1...365, key: kind)
    let scratch = try Scratch()
    let program = scratch.folder.path + "/damage"
    let root = Package.root.path
    let compiled = try await Child.run(
      "/usr/bin/cc",
      ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
        + ["-I\(root)/Sources/CLibraries/include", "\(root)/Sources/CLibraries/tls.c"]
        + ["\(root)/Sources/CLibraries/openssl-keys.c"]
        + ["\(root)/Tests/Fuzz/TLSDamage.c", "-lssl", "-lcrypto", "-o", program])
    try #require(compiled.exitCode == 0, "\(compiled.errors)")
    // In `make soak` others each time, which it prints.
    let seed = Soak.isLong ? Int.random(in: 1...1_000_000) : 1
    let cases = Soak.amount(short: 2000, long: 100_000)
    let result = try await Child.run(
      program, [certificate.path, certificate.key, "\(cases)", "\(seed)"])
    print("damaged TLS, \(kind), seed \(seed): \(result.output.last ?? "")")
    #expect(result.exitCode == 0, "seed \(seed): \(result.errors)")
    #expect(result.output.last?.hasPrefix("\(cases) cases: ") == true)
  }
}
