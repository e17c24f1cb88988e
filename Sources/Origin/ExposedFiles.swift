import Glibc
import Push

/// Files that every user of the machine can read or change.
package enum ExposedFiles {
  /// Whether every user can read or change a file: its own mode and those of the folders above it allow it.
  ///
  /// False if this user cannot tell, and if there is no such file.
  package static func contain(_ path: String) -> Bool {
    guard let resolved = realpath(path, nil) else { return false }
    defer { free(resolved) }
    var path = String(cString: resolved)
    guard let mode = mode(of: path), mode & 0o006 != 0 else { return false }
    while let slash = path.lastIndex(of: "/"), path != "/" {
      path = slash == path.startIndex ? "/" : String(path[..<slash])
      guard let mode = self.mode(of: path), mode & 0o001 != 0 else { return false }
    }
    return true
  }

  private static func mode(of path: String) -> mode_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode : nil
  }
}

extension OriginConfiguration {
  /// What is permitted and probably not meant, each in a sentence.
  package var warnings: [String] {
    exposedSecrets + [push.webPush?.contactProblem, unreachedReaders].compactMap(\.self)
  }

  /// A sentence if readers of ntfy's API would get nothing.
  private var unreachedReaders: String? {
    compatibility.apis.contains(.ntfy) && !push.lanes.isEmbedded
      ? "ntfy's apps get nothing from this server: add embedded to --push" : nil
  }

  /// A sentence for each file with a secret that every user of the machine can read or change: the TLS key, and
  /// what the variables `RICHPUSH_…_FILE` name.
  private var exposedSecrets: [String] {
    (certificates.map(\.key) + pushFiles + (objects?.files ?? []) + signIn.files)
      .filter(ExposedFiles.contain)
      .map { "every user of this machine can read the secret in \($0): chmod o= \($0)" }
  }
}
