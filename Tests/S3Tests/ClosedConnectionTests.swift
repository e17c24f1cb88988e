import Foundation
import StandIns
import Testing

@testable import S3

/// An object store that closes the connection during an upload by HTTPS.
@Suite(.timeLimit(.minutes(1))) struct ClosedConnectionTests {
  @Test func `an upload that is broken off does not end the process`() async throws {
    // As a program has it that does nothing about it.
    signal(SIGPIPE, SIG_DFL)
    let store = try StandIn("hasty")
    let client = S3Client(
      try S3Bucket("s3://bucket?endpoint=\(store.url)"),
      S3Credentials(accessKey: "rich:push", secret: "hidden"), deadline: .seconds(1),
      authority: store.certificates)
    let error = await #expect(throws: S3Error.self) {
      try await client.put("a", bytes: [UInt8](repeating: 7, count: 4 << 20))
    }
    #expect(error?.code == .away, "\(String(describing: error))")
    #expect(error.map { "\($0)" }?.contains("certificate") == false, "\(String(describing: error))")
  }
}
