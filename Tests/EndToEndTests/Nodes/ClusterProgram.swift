import Foundation
import RichPushClient
import StandIns
import Synchronization
import Testing

/// `richpush-cluster` with a folder of its own.
///
/// What is left of its cluster ends with this process, however that ends.
final class ClusterProgram: Sendable {
  /// Its folder, on a disk, since Swift needs extended attributes; short, because the path of a socket is.
  let folder = "/var/tmp/richpush-\(String(UInt32.random(in: .min ... .max), radix: 36))"
  /// The address of its balancer.
  let endpoint: URL
  private let reservedPort: ReservedPort
  private let loan = Pipe()

  /// What a suite with a cluster of Debian's packages needs.
  static let isPossible =
    Cluster.isPossible
    && FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/swift")

  static let path = Package.root.appending(path: "packaging/cluster/richpush-cluster").path

  /// Starts nothing yet.
  init() throws {
    reservedPort = try ReservedPort()
    endpoint = try #require(URL(string: "http://127.0.0.1:\(reservedPort.number)"))
    // A program that inherited it would keep the cluster.
    _ = fcntl(loan.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
    let end = "cat >/dev/null; exec \"$0\" --folder \"$1\" down --purge >/dev/null 2>&1"
    _ = try StartedProgram(
      "/bin/sh", ["-c", end, Self.path, folder], input: loan.fileHandleForReading)
  }

  deinit { try? loan.fileHandleForWriting.close() }

  /// The words that start all of it.
  func up() throws -> [String] {
    let program = try Package.program("richpush").path
    return ["up", "--demo", "--listen", "127.0.0.1:\(reservedPort.number)", "--program", program]
  }

  func run(_ words: [String]) async throws -> Child.Result {
    try await Child.run(Self.path, ["--folder", folder] + words)
  }

  /// Runs it, and expects that it does what it is asked for.
  @discardableResult func expect(_ words: String...) async throws -> [String] {
    let result = try await run(words)
    #expect(result.exitCode == 0, "\(words): \(result.output) \(result.errors)")
    return result.output
  }

  /// The processes that have its folder in their command line, or as the current one.
  var processes: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.filter { Int($0) != nil }.compactMap { name in
      let line = (try? Data(contentsOf: URL(filePath: "/proc/\(name)/cmdline"))) ?? Data()
      let words = String(decoding: line, as: UTF8.self).replacing("\0", with: " ")
      let place = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(name)/cwd")
      let isOurs = words.contains(folder) && !words.hasPrefix("/bin/sh -c cat")
      return isOurs || place?.hasPrefix(folder) == true ? "\(name) \(words)" : nil
    }
  }

  /// Whether nobody listens on a port that its cluster has used.
  func portsAreFree() throws -> Bool {
    let ports = try settings().ports.values + [reservedPort.number]
    return ports.allSatisfy { port in
      guard let socket = try? LoopbackSocket.connected(to: port) else { return true }
      close(socket)
      return false
    }
  }

  func settings() throws -> Settings {
    try JSONDecoder().decode(
      Settings.self, from: Data(contentsOf: URL(filePath: folder + "/cluster.json")))
  }

  struct Settings: Decodable {
    let ports: [String: Int]
  }

  func client(_ user: String) -> RichPushClient {
    RichPushClient(endpoint: endpoint, user: user, password: user)
  }
}

/// A publisher that sends and phones that fetch, all the time while something else is done.
struct ClusterTraffic {
  /// How many pictures the phones have fetched.
  var fetches = 0
  /// How many of them needed more than one request.
  var repeated = 0
  /// Why a phone had no picture, though it asked again and again.
  var failures: [String] = []
  /// The IDs of what was acknowledged, by the number that is its text.
  var acknowledged: [Int: Int] = [:]

  /// Sends and fetches until the body returns; what has no answer is sent again with its key, and what is not there is
  /// asked for again for as long as `patience`, as phones do.
  static func during(
    _ cluster: ClusterProgram, patience: Duration, _ body: () async throws -> Void
  ) async throws -> ClusterTraffic {
    let shop = cluster.client("shop")
    let (alice, bob) = (cluster.client("alice"), cluster.client("bob"))
    let id = try await Cluster.patiently { try await shop.create(.logo(to: "bob")).id }
    // Each node has served it.
    for _ in 0..<30 { _ = try await Cluster.patiently { try await bob.media(id) } }
    let isOver = IsOver()

    async let fetching = withThrowingTaskGroup(of: ClusterTraffic.self) { group in
      for _ in 0..<3 {
        group.addTask {
          var traffic = ClusterTraffic()
          while !isOver.value {
            try await traffic.fetch(patience: patience) { _ = try await bob.media(id) }
          }
          return traffic
        }
      }
      return try await group.reduce(into: ClusterTraffic()) {
        $0.fetches += $1.fetches
        $0.repeated += $1.repeated
        $0.failures += $1.failures
      }
    }
    async let sending = {
      var acknowledged: [Int: Int] = [:]
      while !isOver.value {
        var new = NewNotification.logo(to: "alice", String(acknowledged.count))
        new.idempotencyKey = "\(id) \(acknowledged.count)"
        acknowledged[acknowledged.count] = try await Cluster.patiently { [new] in
          try await shop.create(new).id
        }
      }
      return acknowledged
    }()
    do { try await body() } catch {
      isOver.set()
      throw error
    }
    isOver.set()
    var traffic = try await fetching
    traffic.acknowledged = try await sending
    try await traffic.expectInbox(of: alice)
    return traffic
  }

  private mutating func fetch(
    patience: Duration, _ request: () async throws -> Void
  ) async throws {
    let start = ContinuousClock.now
    fetches += 1
    for attempt in 1... {
      do { return try await request() } catch let error as RichPushError {
        if attempt == 1 { repeated += 1 }
        if attempt > 1, .now - start > patience { return failures.append("\(error)") }
      }
    }
  }

  /// What was acknowledged is what alice has, each once.
  private func expectInbox(of alice: RichPushClient) async throws {
    let first = acknowledged.values.min() ?? 0
    var (texts, page): ([Int: [String]], Inbox?) = ([:], try await alice.inbox(limit: 100))
    while let inbox = page {
      for each in inbox.notifications where each.id >= first {
        texts[each.id, default: []].append(each.message.text)
      }
      if let last = inbox.notifications.last, last.id < first { break }
      page = try await alice.page(after: inbox)
    }
    let expected = Dictionary(
      uniqueKeysWithValues: acknowledged.map { ($0.value, [String($0.key)]) })
    #expect(texts == expected, "\(texts.count) of \(expected.count)")
  }

  private final class IsOver: Sendable {
    private let state = Mutex(false)
    var value: Bool { state.withLock { $0 } }
    func set() { state.withLock { $0 = true } }
  }
}
