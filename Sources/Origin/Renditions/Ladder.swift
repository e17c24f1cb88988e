/// The widths and heights there are, so that the cache stays bounded.
enum Ladder {
  static let steps = [
    64, 96, 128, 160, 240, 320, 400, 480, 512, 640, 750, 828, 1080, 1170, 1440, 1920, 2560,
  ]

  /// The first step that is not below `pixels`, or the last.
  static func snap(_ pixels: Int) -> Int { steps.first { $0 >= pixels } ?? steps[steps.count - 1] }
}
