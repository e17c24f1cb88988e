import Foundation
import Testing

/// New TLS connections, as many as can be made, beside one that is open.
@Suite(.timeLimit(.minutes(30))) struct HandshakeFloodSoakTests {
  @Test func `open connections wait little longer while others shake hands`() async throws {
    let certificate = try await TemporaryCertificate(days: -1...365)
    let phones = try await TLSPhones()
    let flags = ["--demo", "--connections-per-address", "1000"] + certificate.flags
    // The flood comes from the last processor, and the server has the first.
    try await RunningServer.lend(flags: flags, through: ["/usr/bin/taskset", "-c", "0"]) { server in
      @Sendable func ask(_ count: Int) -> [(path: String, token: String)] {
        Array(repeating: ("/healthz", "-"), count: count)
      }
      let probes = Soak.amount(short: 500, long: 10_000)
      let added = try await repeatedly(until: { (added: Double) in added < 5 }) {
        let quiet = try await phones.ask(
          ask(probes), of: server, together: 1, mode: "open", isUrgent: true)
        async let flood = phones.ask(
          ask(Soak.amount(short: 2000, long: 40_000)), of: server, together: 64)
        let flooded = try await phones.ask(
          ask(probes), of: server, together: 1, mode: "open", isUrgent: true)
        _ = try await flood
        print("flood: 99% within \(quiet.p99) us without, \(flooded.p99) us with it")
        return (flooded.p99 - quiet.p99) / 1000
      }
      // The long form holds the promise, with the program as it is used.
      #expect(!Soak.isLong || added < 5)
    }
  }
}
