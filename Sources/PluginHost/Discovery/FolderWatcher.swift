/// Tells a host that something in its folder has changed.
final class FolderWatcher: Watcher {
  private weak let host: PluginHost?

  init(host: PluginHost) { self.host = host }

  func ready(_ descriptor: Int32) { host?.folderHasChanged() }

  func expired() {}
}
