import Glibc

/// Where the server's own shared libraries are, for its plugins need them as well.
enum SharedLibraries {
  /// The folders of the libraries this process has loaded, such as a Swift toolchain's.
  static let folders: [String] = {
    guard let file = Descriptor(open("/proc/self/maps", O_RDONLY | O_CLOEXEC)),
      let bytes = file.contents(atMost: 1 << 22)
    else { return [] }
    var folders: Set<String> = []
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      guard let start = line.firstIndex(of: "/"), line.hasSuffix(".so"),
        let end = line.lastIndex(of: "/"), end > start
      else { continue }
      folders.insert(String(line[start..<end]))
    }
    return folders.sorted()
  }()
}
