import Glibc

/// An asset under a name in a worker's own folder, for the time of one request.
///
/// A worker is shut in for life when it starts and knows no asset by then; so each comes to it, as a
/// hard link in a folder where it may read and not write. It never sees another request's.
struct AssetLoan {
  /// The asset as the worker finds it.
  let asset: PluginCall.Asset?

  /// Lends an asset; copies it where the folder is on another file system.
  ///
  /// - Throws: ``PluginError`` 503 when the disk does not let it.
  init(of asset: PluginCall.Asset?, to folder: ScratchFolder) throws(PluginError) {
    guard var lent = asset else {
      self.asset = nil
      return
    }
    lent.path = folder.path + "/in/" + String(UInt64.random(in: .min ... .max), radix: 36)
    self.asset = lent
    if link(asset?.path ?? "", lent.path) == 0 { return }
    guard AssetLoan.copy(asset?.path ?? "", to: lent.path) else {
      throw .busy("The asset cannot be given to the plugin.")
    }
  }

  /// Takes the name away.
  func end() {
    if let asset { unlink(asset.path) }
  }

  private static func copy(_ source: String, to target: String) -> Bool {
    guard let input = Descriptor(open(source, O_RDONLY | O_CLOEXEC)),
      let output = Descriptor(open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o444))
    else { return false }
    // A user of the plugin's own reads it as any other; the umask would have cut that.
    fchmod(output.number, 0o444)
    var isComplete = true
    while true {
      let isAtEnd = input.drain { isComplete = isComplete && output.write($0) }
      if isAtEnd || !isComplete { return isComplete }
    }
  }
}
