import Glibc

/// What `php-cgi` needs beyond CGI/1.1 to run a script that names it in its first line.
struct PHPVariables {
  private let folder: String
  private let script: String

  /// Nil for a plugin that is not a PHP script.
  init?(of plugin: Plugin, scratchFolder: String) {
    guard plugin.interpreter?.contains("php") == true else { return nil }
    folder = scratchFolder + "/php"
    script = plugin.executable
  }

  /// For each request: it runs nothing without these two.
  var ofRequest: [(name: String, value: String)] {
    [("SCRIPT_FILENAME", script), ("REDIRECT_STATUS", "200")]
  }

  /// For the process: a settings file, read after the system's own.
  var ofProcess: [(name: String, value: String)] {
    [("PHP_INI_SCAN_DIR", ":" + folder)]
  }

  /// The folder with the settings; its code cache would lock a file in /tmp, where no plugin may.
  var settings: String {
    let file = folder + "/richpush.ini"
    mkdir(folder, 0o755)
    chmod(folder, 0o755)  // whatever the umask: plugins with users of their own read it
    if let descriptor = Descriptor(open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)) {
      fchmod(descriptor.number, 0o644)
      _ = Array("opcache.lockfile_path=${TMPDIR}\n".utf8).withUnsafeBytes(descriptor.write)
    }
    return folder
  }
}
