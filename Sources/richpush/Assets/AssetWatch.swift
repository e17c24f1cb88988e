import Foundation
import RichPushClient
import Synchronization

/// `richpush asset watch`: what happens to the assets, and below it how far the whole has come.
struct AssetWatch {
  private let client: RichPushClient
  private let report: AssetReport

  init(_ client: RichPushClient, _ report: AssetReport) {
    (self.client, self.report) = (client, report)
  }

  /// Watches until it is interrupted.
  func run() async throws {
    let (client, report) = (client, report)
    let (ticks, tick) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let progress = Task {
      for await _ in ticks {
        // What is being prepared goes on without an event of its own.
        while await Self.showProgress(of: client) { try await Task.sleep(for: .milliseconds(500)) }
      }
    }
    defer { progress.cancel() }
    let events = client.assetEvents { _ in
      if isatty(STDERR_FILENO) == 0 { report.note("watching the assets of \(client.endpoint)") }
      tick.yield()
    }
    for try await event in events {
      Terminal.showProgress("")
      show(event)
      tick.yield()
    }
  }

  private func show(_ event: AssetEvent) {
    if report.isJSON { return Terminal.say(event.text) }
    if let asset = event.asset { return report.line(asset) }
    report.note("removed \(event.richType)/\(event.name.printable)")
  }

  /// Shows how far all has come; whether more is to come by itself.
  private static func showProgress(of client: RichPushClient) async -> Bool {
    guard isatty(STDERR_FILENO) == 1, let counts = try? await client.assetCounts() else {
      return false
    }
    var text = "\(counts.ready) ready, \(counts.preparing) preparing, \(counts.refused) refused"
    if (1...100).contains(counts.preparing),
      let next = try? await client.assets(state: .preparing).max(by: {
        $0.progress?.made ?? 0 < $1.progress?.made ?? 0
      })
    {
      text += "; \(next.preparation)"
    }
    Terminal.showProgress(text)
    return counts.preparing > 0
  }
}
