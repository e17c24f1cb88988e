import Foundation
import RichPushClient

/// `richpush asset add`: uploads files, and says what became of each.
struct AssetAdd {
  private let client: RichPushClient
  private let richType: String
  private let report: AssetReport

  init(_ arguments: Arguments, _ report: AssetReport) throws {
    client = try Account(arguments).client
    richType = try arguments.required("type")
    self.report = report
  }

  /// Uploads all, then waits until each is prepared; ends with 65 when one is refused.
  func run(_ files: [String]) async throws {
    var (refused, taken) = (0, [Asset]())
    for (index, file) in files.enumerated() {
      Terminal.showProgress("uploading \(index + 1) of \(files.count): \(file.printable)")
      do {
        taken.append(try await client.upload(URL(filePath: file), richType: richType))
      } catch let error as RichPushError where error.code == .refused {
        Terminal.showProgress("")
        Terminal.complain("\(file) is refused: \(error.reason)")
        refused += 1
      }
    }
    for (index, asset) in taken.enumerated() {
      let asset = try await settled(asset, "\(index + 1) of \(taken.count)")
      Terminal.showProgress("")
      report.line(asset)
      if asset.state == .refused { refused += 1 }
    }
    if refused > 0 {
      throw CommandLineError.failed("\(refused) of \(files.count) refused", exitCode: 65)
    }
  }

  /// The asset when there is something to say about it.
  private func settled(_ asset: Asset, _ place: String) async throws -> Asset {
    var asset = asset
    while asset.state == .preparing {
      Terminal.showProgress("preparing \(place): \(asset.preparation)")
      try await Task.sleep(for: .milliseconds(100))
      asset = try await client.asset(asset.name, richType: richType)
    }
    return asset
  }
}
