import PluginHost
import Synchronization

/// The line before each plugin.
final class RenderLines: Sendable {
  private let lines = Mutex<[String: RenderLine]>([:])
  /// The most calls of one plugin at a time.
  private let concurrency: Int

  init(concurrency: Int) { self.concurrency = concurrency }

  /// The line before a plugin, a new one when its manifest allows it another number of processes.
  ///
  /// One call more than they take is let through: it waits at the plugin's own gate, which so notices
  /// when nothing moves any more.
  subscript(_ plugin: Plugin) -> RenderLine {
    let width = min(plugin.manifest.workers.max ?? .max, concurrency) + 1
    return lines.withLock { lines in
      if let line = lines[plugin.richType], line.width == width { return line }
      let line = RenderLine(width: width)
      lines[plugin.richType] = line
      return line
    }
  }
}
