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

  /// Uploads all, then waits until each is prepared.
  ///
  /// A file that is not taken does not keep the others back; the exit code is 65 when one is refused.
  func run(_ files: [String]) async throws {
    var (taken, failures) = ([Asset](), [Int32]())
    for (index, file) in files.enumerated() {
      Terminal.showProgress("uploading \(index + 1) of \(files.count): \(file.printable)")
      do {
        taken.append(try await client.upload(URL(filePath: file), richType: richType))
      } catch let error as RichPushError where !Self.concernsAll(error) {
        Terminal.showProgress("")
        let what = error.code == .refused ? "is refused" : "is not added"
        Terminal.complain("\(file.printable) \(what): \(error.reason)")
        failures.append(error.exitCode)
      }
    }
    for (index, asset) in taken.enumerated() {
      let asset = try await settled(asset, "\(index + 1) of \(taken.count)")
      Terminal.showProgress("")
      report.line(asset)
      if asset.state == .refused { failures.append(65) }
    }
    if let exitCode = failures.min() {
      throw CommandLineError.failed(
        "\(failures.count) of \(files.count) not added", exitCode: exitCode)
    }
  }

  /// Whether the next file would meet with the same.
  private static func concernsAll(_ error: RichPushError) -> Bool {
    [.unreachable, .unauthorized].contains(error.code)
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
