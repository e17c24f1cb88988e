import Glibc

/// The folder of a plugin's process: with the assets lent to it (`in`), its TMPDIR (`tmp`) and, for a
/// resident one, its socket.
///
/// A plugin with a user of its own owns the TMPDIR and nothing else here. Its launcher makes that folder, for
/// which the group may write here; others may enter, and names cannot be guessed.
struct Residence: Sendable {
  let folder: ScratchFolder
  /// Where the process may write.
  let scratch: ScratchFolder

  /// Makes the folder; nil when the disk does not let it.
  init?(in parent: String, for user: PluginUser, forker: Forker) {
    guard let folder = ScratchFolder(in: parent) else { return nil }
    self.folder = folder
    scratch = ScratchFolder(existing: "tmp", in: folder.path, of: user, forker: forker)
    guard mkdir(folder.path + "/in", 0o700) == 0 else { return nil }
    guard user.isOwn else {
      if mkdir(scratch.path, 0o700) != 0 { return nil }
      return
    }
    // chmod, because the mode of mkdir is cut by the umask.
    guard chmod(folder.path + "/in", 0o711) == 0, chmod(folder.path, 0o731) == 0 else { return nil }
  }

  /// Removes it with all it holds, off the caller's thread.
  func remove() async {
    if scratch.isForeign { _ = await scratch.empty() }
    await folder.remove()
  }
}
