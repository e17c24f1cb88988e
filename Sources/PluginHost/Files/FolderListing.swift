import Glibc

/// The names in a folder as the kernel has them, which need not be text.
struct FolderListing {
  /// Each name ends with NUL; without `.` and `..`.
  let names: [[CChar]]

  /// Reads the whole folder; empty when that is not allowed.
  init(_ folder: borrowing Descriptor) {
    var names: [[CChar]] = []
    if let stream = fdopendir(openat(folder.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
      defer { closedir(stream) }
      while let entry = readdir(stream) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { start in
            Array(UnsafeBufferPointer(start: start, count: strlen(start) + 1))
          }
        }
        if name != [46, 0], name != [46, 46, 0] { names.append(name) }
      }
    }
    self.names = names
  }

  /// The names that are text, in the folder at `path`; none when it cannot be read.
  static func texts(in path: String) -> [String] {
    Descriptor(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)).map { FolderListing($0).texts } ?? []
  }

  /// The names that are text.
  var texts: [String] {
    names.compactMap {
      String(validating: $0.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
  }
}
