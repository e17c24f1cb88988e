import Foundation
import Testing

/// The launcher on another processor: arm64, by a cross-compiler and qemu.
@Suite(.timeLimit(.minutes(3))) struct ForeignProcessorSystemTests {
  @Test func `the launcher is compiled for arm64 without a warning, and starts there`()
    async throws
  {
    let scratch = try Scratch()
    let sources = Package.root.appending(path: "Sources/richpush-exec")
    let files = try FileManager.default.contentsOfDirectory(atPath: sources.path)
      .filter { $0.hasSuffix(".c") }.map { sources.appending(path: $0).path }
    let program = scratch.folder.appending(path: "richpush-exec").path
    let compiled = try await Child.run(
      "/usr/bin/aarch64-linux-gnu-gcc",
      ["-O2", "-static", "-Wall", "-Wextra", "-Werror", "-o", program] + files)
    #expect(compiled.exitCode == 0, "\(compiled.errors)")
    let started = try await Child.run("/usr/bin/qemu-aarch64-static", [program])
    #expect(started.exitCode == 64 && started.errors.hasPrefix("usage: richpush-exec"))
  }
}
