import Foundation
import Testing

/// The program as root runs it where it is most dangerous: in folders that are not its own.
@Suite(.timeLimit(.minutes(30))) struct UntouchedRootSystemTests {
  @Test(.enabled(if: PackageSystemTests.package != nil && getuid() == 0))
  func `no command that root runs anywhere changes what it does not name`() async throws {
    let script = Package.root.appending(path: "Tests/Packaging/untouched.py").path
    let programs = Package.root.appending(path: ".build/release").path
    let result = try await Child.run(
      "/usr/bin/python3", [script, try #require(PackageSystemTests.package), programs],
      environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
    #expect(result.exitCode == 0, "\(result.output) \(result.errors)")
  }
}
