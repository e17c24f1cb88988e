/// The prepared responses of one thread, bounded by bytes and files.
///
/// Two generations: what is used moves to the young one; when that has taken half of what is allowed,
/// the old one, which is what nobody has asked for since, is dropped and the young one becomes old.
final class PreparedCache {
  private struct Generation {
    var entries: [Content: Prepared] = [:]
    var bytes = 0
  }

  private var young = Generation()
  private var old = Generation()
  private let bytesLimit: Int
  private let filesLimit: Int
  private let gauge: PreparedGauge

  init(bytes: Int, files: Int, gauge: PreparedGauge = PreparedGauge()) {
    self.gauge = gauge
    bytesLimit = bytes / 2
    filesLimit = files / 2
  }

  var bytes: Int { young.bytes + old.bytes }
  var files: Int { young.entries.count + old.entries.count }

  /// The prepared responses of the content; nil when its file is not what it should be.
  subscript(_ content: Content) -> Prepared? {
    if let hit = young.entries[content] { return hit }
    let known = old.entries.removeValue(forKey: content)
    if known != nil { old.bytes -= content.size }
    guard let prepared = known ?? Prepared(content, gauge: gauge) else { return nil }
    insert(prepared, for: content, isNew: known == nil)
    return prepared
  }

  private func insert(_ prepared: Prepared, for content: Content, isNew: Bool) {
    guard content.size <= bytesLimit, filesLimit > 0 else { return }
    if young.bytes + content.size > bytesLimit || young.entries.count >= filesLimit {
      gauge.drop(old.entries.count, old.bytes)
      old = young
      young = Generation()
    }
    young.entries[content] = prepared
    young.bytes += content.size
    if isNew { gauge.add(content.size) }
  }
}
