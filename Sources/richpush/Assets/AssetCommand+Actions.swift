import FoundationEssentials
import Glibc
import Intake
import RichPushAPI
import RichPushClient
import Synchronization

extension AssetCommand {
  /// Uploads all files, then waits until each is prepared.
  ///
  /// If one file fails, the others are still added. The exit code is 65 if any file is refused.
  static func add(
    _ files: [String], _ arguments: Arguments, _ report: Report
  ) async throws {
    let client = try Account(arguments).client
    let richType = arguments.string("type")
    var (uploaded, failures) = ([Asset](), [Int32]())
    for (index, file) in files.enumerated() {
      Terminal.showProgress("uploading \(index + 1) of \(files.count): \(file)")
      do {
        uploaded.append(try await client.upload(URL(filePath: file), richType: richType))
      } catch let error as RichPushError
        where error.code != .unreachable && error.code != .unauthorized
      {
        // Another file may succeed.
        Terminal.showProgress("")
        let what = error.code == .refused ? "is refused" : "is not added"
        Terminal.printError("\(file) \(what): \(error.reason)")
        failures.append(ExitCode.of(error))
      }
    }
    for (index, var asset) in uploaded.enumerated() {
      while asset.state == .preparing {
        Terminal.showProgress("preparing \(index + 1) of \(uploaded.count): \(asset.preparation)")
        try await Task.sleep(for: .milliseconds(100))
        asset = try await client.asset(asset.name, richType: asset.richType)
      }
      Terminal.showProgress("")
      report.line(asset)
      if asset.state == .refused { failures.append(ExitCode.refused) }
    }
    if let exitCode = failures.min() {
      throw CommandLineError.failed(
        "\(failures.count) of \(files.count) not added", exitCode: exitCode)
    }
  }

  /// Checks a folder as a server would; the exit code is 65 if any file would be refused.
  static func check(
    _ folder: String, _ arguments: Arguments, _ report: Report
  ) async throws {
    let checked = Mutex<[Asset]>([])
    do {
      let check = try FolderCheck(
        folder: folder, richType: arguments.string("type"),
        plugins: PluginFolders(arguments).paths, programs: Programs.folder)
      try await check.run { asset in
        if report.isJSON { report.line(asset) }
        let count = checked.withLock { checked in
          checked.append(asset)
          return checked.count
        }
        Terminal.showProgress("\(count) checked")
      }
      Terminal.showProgress("")
    } catch let error as ServiceError where error.code == .invalidRequest {
      throw CommandLineError.usage(error.reason)
    }
    let assets = checked.withLock { $0 }
    if !report.isJSON { report.list(assets) }
    let refused = assets.count { $0.state == .refused }
    if refused > 0 {
      throw CommandLineError.failed(
        "\(refused) of \(assets.count) refused", exitCode: ExitCode.refused)
    }
  }

  /// Prints the events of the assets, and on a terminal the progress of their preparation, until the
  /// program is interrupted.
  static func watch(_ client: RichPushClient, _ report: Report) async throws {
    let (changes, changed) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let progress = Task {
      for await _ in changes {
        // Preparation makes progress without events.
        while await showProgress(of: client) { try await Task.sleep(for: .milliseconds(500)) }
      }
    }
    defer { progress.cancel() }
    let events = client.assetEvents { _ in
      if isatty(STDERR_FILENO) == 0 { report.note("watching the assets of \(client.endpoint)") }
      changed.yield()
    }
    for try await event in events {
      Terminal.showProgress("")
      if report.isJSON {
        Terminal.print(TerminalText(json: event.text))
      } else if let asset = event.asset {
        report.line(asset)
      } else {
        report.note("removed \(event.richType)/\(event.name)")
      }
      changed.yield()
    }
  }

  /// Shows the number of assets in each state; returns whether some are still being prepared.
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
    Terminal.showProgress("\(text)")
    return counts.preparing > 0
  }
}
