import Foundation
import StandIns
import Synchronization
import Testing

/// Our programs in a folder of their own, where the launcher finds an older Landlock than there is.
struct OldKernel {
  let programs: Scratch

  init(landlock: Int) throws {
    programs = try Scratch()
    for name in ["richpush", "richpush-exec", "img", "sound", "url"] {
      let path = programs.folder.appending(path: name).path
      let source = try Package.program(name).path
      if link(source, path) != 0 { try FileManager.default.copyItem(atPath: source, toPath: path) }
    }
    guard landlock < HostileMode.kernel else { return }
    let launcher = programs.folder.appending(path: "richpush-exec")
    let real = programs.folder.appending(path: "launcher")
    try FileManager.default.moveItem(at: launcher, to: real)
    let program = try Sources.oldKernel.program(
      flags: ["-DABI=\(landlock)", "-DLAUNCHER=\"\(real.path)\""])
    try Data(program).write(to: launcher)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: launcher.path)
  }
}

/// Programs in C beside this file, which are compiled when a test needs them.
struct Sources {
  static let attacks = Sources(folder: "Attacks")
  static let oldKernel = Sources(folder: "OldKernel")

  let folder: String

  /// The compiled program.
  func program(flags: [String] = []) throws -> [UInt8] {
    let scratch = try Scratch()
    let folder = Package.root.appending(path: "Tests/EndToEndTests/Plugins/\(folder)")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".c") }.map { folder.appending(path: $0).path }
    let output = scratch.folder.appending(path: "program")
    let words =
      ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-o", output.path] + flags + files
    try #require(try StartedProgram("/usr/bin/cc", words).waitForEnd() == 0, "cc \(words)")
    return [UInt8](try Data(contentsOf: output))
  }
}
