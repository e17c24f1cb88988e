import Foundation
import Synchronization

/// How much a suite named `…SoakTests` does: a short form in every test run, the long one in `make soak`.
enum Soak {
  static let isLong = ProcessInfo.processInfo.environment["RICHPUSH_SOAK"] != nil

  static func amount(short: Int, long: Int) -> Int { isLong ? long : short }

  /// The folder of the last release's programs, from which `make soak` upgrades; nil where there are none.
  static let earlierPrograms = ProcessInfo.processInfo.environment["RICHPUSH_EARLIER_PROGRAMS"]
    .map { URL(filePath: $0) }
}

/// Counts what a soak has done, and prints it every ten seconds of a long form.
final class SoakProgress: Sendable {
  private let counts = Mutex<[(what: String, number: Int)]>([])
  private let reports = Mutex<Task<Void, any Error>?>(nil)

  init(_ name: String) {
    guard Soak.isLong else { return }
    let start = ContinuousClock.now
    let task = Task { [weak self] in
      while true {
        try await Task.sleep(for: .seconds(10))
        guard let self else { return }
        print("\(name), \((ContinuousClock.now - start).components.seconds) s: \(self.line)")
        // Standard output is a file or a pipe where somebody waits for it.
        fflush(nil)
      }
    }
    reports.withLock { $0 = task }
  }

  deinit { reports.withLock { $0?.cancel() } }

  func add(_ what: String, _ number: Int = 1) {
    counts.withLock { counts in
      if let index = counts.firstIndex(where: { $0.what == what }) {
        counts[index].number += number
      } else {
        counts.append((what, number))
      }
    }
  }

  private var line: String {
    counts.withLock { $0.map { "\($0.number) \($0.what)" }.joined(separator: ", ") }
  }
}
