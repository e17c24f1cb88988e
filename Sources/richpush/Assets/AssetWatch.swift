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
    let client = client
    let (ticks, tick) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let progress = Task {
      for await _ in ticks {
        await Self.showProgress(of: client)
        try await Task.sleep(for: .milliseconds(500))
      }
    }
    defer { progress.cancel() }
    let report = report
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

  private static func showProgress(of client: RichPushClient) async {
    guard let counts = try? await client.assetCounts() else { return }
    Terminal.showProgress(
      "\(counts.ready) ready, \(counts.preparing) preparing, \(counts.refused) refused")
  }
}
