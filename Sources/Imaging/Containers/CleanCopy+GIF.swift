extension CleanCopy {
  /// GIF89a: comments, and application data that is not about looping, are cut.
  mutating func cutGIF(_ source: SourceFile) {
    let blocks = GIFBlocks(source)
    keep(0..<blocks.start)
    var end = blocks.start
    for block in blocks {
      switch block.kind {
      case .comment: note("comments")
      case .application where !block.isLooping: note("application data")
      default: keep(block.range)
      }
      end = block.range.upperBound
    }
    close(source, at: end)
  }
}
