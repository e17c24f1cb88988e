import Foundation

/// Where the programs of ours are, and what ships with them.
enum Programs {
  /// The folder of this executable, with `richpush-exec` and the plugins' executables beside it.
  static var folder: String {
    let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "."
    return URL(fileURLWithPath: path).deletingLastPathComponent().path
  }

  /// The folder of the plugins that ship.
  static var plugins: String { package + "/plugins" }

  /// The folder of the files that the demonstration begins with, in a folder for each rich type.
  static var samples: String { package + "/assets" }

  /// The folder of an installed program, or the repository that it was built in.
  private static var package: String {
    folder.range(of: "/.build/").map { String(folder[..<$0.lowerBound]) } ?? folder
  }
}
