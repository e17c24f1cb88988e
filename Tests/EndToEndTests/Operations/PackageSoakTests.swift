import Foundation
import Testing

/// What takes minutes of work on the Debian package; only in `make soak`.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Soak.isLong && getuid() == 0), .serialized)
struct PackageSoakTests {
  @Test func `two builds are equal`() async throws {
    let script = Package.root.appending(path: "Tests/Packaging/twice.sh").path
    let variables = ProcessInfo.processInfo.environment
      .filter { ["PATH", "HOME"].contains($0.key) }
    let result = try await Child.run(script, [], environment: variables)
    #expect(result.exitCode == 0, "\(result.output) \(result.errors)")
  }

  @Test func `piuparts finds nothing that it leaves or breaks`() async throws {
    let script = Package.root.appending(path: "Tests/Packaging/piuparts.sh").path
    let variables = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]
    let result = try await Child.run(script, [], environment: variables)
    #expect(result.exitCode == 0, "\(result.output.suffix(40)) \(result.errors)")
  }
}
