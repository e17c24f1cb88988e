import Foundation
import Testing

/// The Debian package that `make deb` makes; `make test-system` makes it first.
@Suite(.timeLimit(.minutes(30))) struct PackageSystemTests {
  static let package = {
    let folder = Package.root.appending(path: ".build/deb").path
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.first { $0.hasPrefix("richpush_") && $0.hasSuffix(".deb") }
      .map { "\(folder)/\($0)" }
  }()

  private static let image = Package.root.appending(path: ".build/image").path

  @Test(.enabled(if: package != nil && getuid() == 0))
  func `it installs, serves, upgrades and goes away on a clean Debian without Swift`() async throws
  {
    let script = Package.root.appending(path: "Tests/Packaging/package.py").path
    let result = try await Child.run(
      "/usr/bin/python3", [script, try #require(Self.package)],
      environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
    #expect(result.exitCode == 0, "\(result.output) \(result.errors)")
  }

  @Test(.enabled(if: package != nil))
  func `its programs are small enough, and its documents name them and their libraries`()
    async throws
  {
    let script = Package.root.appending(path: "Tests/Packaging/contents.py").path
    let result = try await Child.run(
      "/usr/bin/python3", [script, try #require(Self.package)])
    #expect(result.exitCode == 0, "\(result.output) \(result.errors)")
  }

  @Test(
    .enabled(if: FileManager.default.fileExists(atPath: Self.image)))
  func `the container image serves, read-only and without privileges`() async throws {
    let script = Package.root.appending(path: "Tests/Packaging/image.py").path
    let result = try await Child.run("/usr/bin/python3", [script, Self.image])
    #expect(result.exitCode == 0, "\(result.output) \(result.errors)")
  }

  @Test(.enabled(if: package != nil))
  func `lintian finds neither errors nor warnings`() async throws {
    let result = try await Child.run(
      "/usr/bin/lintian",
      ["--fail-on", "error,warning", "--allow-root", "--no-cfg", try #require(Self.package)])
    #expect(result.exitCode == 0, "\(result.output)")
  }

  @Test func `the unit is right, and exposes no more than it says`() async throws {
    let unit = Package.root.appending(path: "packaging/debian/richpush.service").path
    let security = try await Child.run(
      "/usr/bin/systemd-analyze", ["security", "--offline=true", "--threshold=25", unit])
    #expect(security.exitCode == 0, "\(security.output.last ?? "")")
    // With the drop-in for `--sandbox strict` as well.
    let scratch = try Scratch()
    let dropIn = try ["richpush.service", "strict.conf"].flatMap {
      try Package.bytes("packaging/debian/" + $0)
    }
    try scratch.drop(dropIn, as: "richpush.service")
    for unit in [unit, scratch.folder.appending(path: "richpush.service").path] {
      let verify = try await Child.run("/usr/bin/systemd-analyze", ["verify", "--man=no", unit])
      let problems = verify.errors.split(separator: "\n")
        .filter { !$0.contains("is not executable") }
      #expect(problems.isEmpty, "\(problems)")
    }
  }

  @Test func `the unit ends no upgrade of large tables, and goes on while the database is away`()
    throws
  {
    let unit = try Package.bytes("packaging/debian/richpush.service")
    let lines = Set(String(decoding: unit, as: UTF8.self).split(separator: "\n"))
    for line in [
      "TimeoutStartSec=infinity", "StartLimitIntervalSec=0", "Restart=on-failure",
      "RestartPreventExitStatus=64",
    ] { #expect(lines.contains(Substring(line)), "\(line)") }
  }

  @Test func `the changelog of the package has the program's version`() async throws {
    let version = try await Child.run("richpush", ["--version"]).output.first ?? ""
    let changelog = String(decoding: try Package.bytes("packaging/debian/changelog"), as: UTF8.self)
    let packaged = try #require(changelog.firstMatch(of: #/^richpush \((\S+)-\d+\)/#)?.1)
    #expect(version.hasPrefix("richpush \(packaged),"))
  }
}
