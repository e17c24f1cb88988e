import Store
import Synchronization
import Testing

@testable import Origin

@Suite struct WarningTests {
  private func warnings(_ change: (inout OriginConfiguration) -> Void) throws -> [String] {
    let scratch = try Scratch()
    let store = try scratch.store()
    var configuration = try OriginConfiguration()
    change(&configuration)
    let lines = Lines()
    try configuration.warn(of: store, log: Log { lines.add($0) })
    return lines.all
  }

  private final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
  }

  @Test(
    arguments: [
      ("0.0.0.0", [], nil, true), ("10.0.0.5", [], nil, true),
      ("10.0.0.5", ["10.0.0.2"], nil, false),
      ("10.0.0.5", [], "cert.pem", false), ("127.0.0.1", [], nil, false), ("::1", [], nil, false),
    ] as [(String, [String], String?, Bool)])
  func `warns of passwords in the clear where others could read them`(
    host: String, proxies: [String], certificate: String?, isExpected: Bool
  ) throws {
    let warnings = try warnings {
      ($0.host, $0.proxies, $0.certificate, $0.isDemo) = (host, proxies, certificate, true)
    }
    #expect(warnings.contains { $0.contains("in the clear") } == isExpected)
    #expect(warnings.count == (isExpected ? 1 : 0))
  }

  @Test func `warns when nobody can come in`() throws {
    #expect(try warnings { _ in }.contains { $0.contains("nobody can come in yet") })
  }

  @Test(arguments: ["push.example", "ftp://a", "https://", "https://a/?b", "https://u@a"])
  func `refuses what is no public address`(text: String) throws {
    var configuration = try OriginConfiguration()
    #expect(throws: ConfigurationError.self) { try configuration.usePublicURL(text) }
  }
}
