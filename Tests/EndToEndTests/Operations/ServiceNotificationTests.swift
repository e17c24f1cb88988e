import Foundation
import Synchronization
import Testing
import Waiting
import StandIns

/// What systemd and the server tell each other, with a stand-in of systemd.
@Suite(.timeLimit(.minutes(2))) struct ServiceNotificationTests {
  static func supervisor(sockets: Int) -> [String] {
    let script = Package.root.appending(path: "Tests/StandIns/Services/systemd.py").path
    return ["/usr/bin/python3", script, "0.6", "\(sockets)"]
  }

  static func count(_ word: String, in log: String) -> Int {
    log.components(separatedBy: "\n").count { $0 == word }
  }

  @Test func `the manager learns that the server is ready, alive, reloading and stopping`()
    async throws
  {
    try await RunningServer.lend(through: Self.supervisor(sockets: 0)) { server in
      try await eventually("it is ready") { Self.count("READY=1", in: server.log) == 1 }
      try await eventually("it is alive") { Self.count("WATCHDOG=1", in: server.log) > 3 }
      server.send(SIGHUP)
      try await eventually("it was reloaded") {
        Self.count("RELOADING=1", in: server.log) == 1
          && Self.count("READY=1", in: server.log) == 2
      }
      server.send(SIGUSR1)
      try await eventually("it was started again") { Self.count("READY=1", in: server.log) == 3 }
      #expect(Self.count("STOPPING=1", in: server.log) == 1)
    }
  }

  @Test(arguments: [1, 3])
  func `a restart refuses no connection if the manager listens`(sockets: Int) async throws {
    try await RunningServer.lend(through: Self.supervisor(sockets: sockets)) { server in
      let port = server.port
      let isOver = Mutex(false)
      async let connected = Task.detached {
        var count = 0
        while !isOver.withLock({ $0 }) {
          close(try LoopbackSocket.connected(to: port))
          count += 1
          try await Task.sleep(for: .milliseconds(1))
        }
        return count
      }.value
      for restarts in 1...3 {
        server.send(SIGUSR1)
        try await eventually("it was started again") {
          Self.count("READY=1", in: server.log) == restarts + 1
        }
        let health = try RawConnection(port: port).exchange("GET /healthz HTTP/1.1\r\n")
        #expect(health.status == 200)
      }
      isOver.withLock { $0 = true }
      #expect(try await connected > 50)
    }
  }
}
