import Foundation
import Intake
import RichPushAPI
import RichPushClient
import Synchronization

/// `richpush asset check`: what a server would say of a folder's files.
struct AssetCheck {
  private let arguments: Arguments
  private let report: AssetReport

  init(_ arguments: Arguments, _ report: AssetReport) {
    (self.arguments, self.report) = (arguments, report)
  }

  /// Checks a folder and ends with 65 when something would be refused.
  func run(_ folder: String) async throws {
    let checked = Mutex<[Asset]>([])
    do {
      let plugins = PluginFolders(arguments)
      let check = try FolderCheck(
        folder: folder, richType: arguments.string("type"), plugins: plugins.own,
        shipped: plugins.shipped, programs: Programs.folder)
      try await check.run { [report] bytes in
        guard let asset = try? JSONDecoder().decode(Asset.self, from: Data(bytes)) else { return }
        if report.isJSON { report.line(asset) }
        let count = checked.withLock { checked in
          checked.append(asset)
          return checked.count
        }
        Terminal.showProgress("\(count) checked")
      }
      Terminal.showProgress("")
    } catch let error as ServiceError {
      throw error.code == .invalidRequest
        ? CommandLineError.usage(error.reason) : CommandLineError.failed(error.reason)
    }
    let assets = checked.withLock { $0 }
    if !report.isJSON { report.list(assets) }
    let refused = assets.count { $0.state == .refused }
    if refused > 0 {
      throw CommandLineError.failed("\(refused) of \(assets.count) refused", exitCode: 65)
    }
  }
}
