import Foundation

/// Where the programs of ours are.
enum Programs {
  /// The folder of this executable, with `richpush-exec` and the plugins beside it.
  static var folder: String {
    let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "."
    return URL(fileURLWithPath: path).deletingLastPathComponent().path
  }
}
