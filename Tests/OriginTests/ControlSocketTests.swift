import Foundation
import Media
import StandIns
import Store
import TestSupport
import Testing

@testable import Origin

/// What commands tell a running server.
@Suite(.timeLimit(.minutes(1))) struct ControlSocketTests {
  private let scratch: Scratch
  private let folder: String

  init() throws {
    scratch = try Scratch()
    folder = scratch.path + "/data"
    try scratch.makeFolder("data")
  }

  /// A socket that was bound there as by a server, and a process's descriptor of it.
  private func connection(listening: Bool = false) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: "\(folder)/control".utf8) }
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        return listening ? bind(descriptor, $0, size) : connect(descriptor, $0, size)
      }
    }
    try #require(result == 0, "\(String(cString: strerror(errno)))")
    return descriptor
  }

  @Test func `a client hears what came of its request, and that there is no server`() async throws {
    #expect(await ControlSocket.reload(in: folder) == .noServer)
    #expect(await ControlSocket.reload(in: folder + "/nowhere") == .noServer)
    let calls = LogLines()
    let control = try ControlSocket(in: folder) {
      calls.record("reload")
      if calls.all.count == 2 { throw OperatorError("The disk is gone.") }
    }
    #expect(await ControlSocket.reload(in: folder) == .applied)
    #expect(await ControlSocket.reload(in: folder) == .failed("The disk is gone."))
    #expect(await ControlSocket.reload(in: folder) == .applied)
    #expect(calls.all.count == 3)
    control.stop()
    #expect(await ControlSocket.reload(in: folder) == .noServer)
    #expect(scratch.names(in: "data").isEmpty)
  }

  @Test func `it says where the server is, and where people sign in`() async throws {
    #expect(await ControlSocket.server(in: folder) == nil)
    for server in [
      ControlSocket.Server(address: "https://push.example", isDemo: false),
      ControlSocket.Server(address: "http://127.0.0.1:8080", isDemo: true),
      ControlSocket.Server(
        address: "https://push.example", isDemo: false,
        issuer: "https://login.example/" + String(repeating: "x", count: 900)),
    ] {
      let control = try ControlSocket(in: folder, describing: server) {}
      #expect(await ControlSocket.server(in: folder) == server)
      control.stop()
    }
  }

  @Test func `the socket of a killed server is no server, and is replaced`() async throws {
    close(try connection(listening: true))
    #expect(scratch.names(in: "data") == ["control"])
    #expect(await ControlSocket.reload(in: folder) == .noServer)
    let control = try ControlSocket(in: folder) {}
    #expect(await ControlSocket.reload(in: folder) == .applied)
    control.stop()
  }

  @Test func `a folder's path may be longer than a socket's address`() async throws {
    let deep =
      "data/"
      + Array(repeating: String(repeating: "x", count: 100), count: 5)
      .joined(separator: "/")
    try scratch.makeFolder(deep)
    let control = try ControlSocket(in: scratch.path + "/" + deep) {}
    #expect(await ControlSocket.reload(in: scratch.path + "/" + deep) == .applied)
    control.stop()
  }

  @Test func `a folder that can hold no socket is named`() {
    let error = #expect(throws: OperatorError.self) { try ControlSocket(in: "/proc") {} }
    #expect(error?.reason.contains("/proc/control") == true)
  }

  @Test func `silent clients and other requests get nothing, and hold up nobody for long`()
    async throws
  {
    let calls = LogLines()
    let control = try ControlSocket(in: folder) { calls.record("reload") }
    defer { control.stop() }
    for request in [
      "", "reload", "stop\n", "reload\nreload\n", String(repeating: "x", count: 9999),
    ] {
      let client = try connection()
      defer { close(client) }
      if !request.isEmpty { send(client, request, request.utf8.count, Int32(MSG_NOSIGNAL)) }
      #expect(await ControlSocket.reload(in: folder) == .applied, "\(request)")
      var byte: UInt8 = 0
      let count = recv(client, &byte, 1, Int32(MSG_DONTWAIT))
      #expect(count == 0 || count < 0 && errno != EAGAIN)
    }
    #expect(calls.all.count == 5)
  }

  @Test func `only the owner and root may use it`() throws {
    let control = try ControlSocket(in: folder) {}
    defer { control.stop() }
    let mode = try FileManager.default.attributesOfItem(atPath: folder + "/control")
    #expect((mode[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    #expect(ControlSocket.mayControl(geteuid()) && ControlSocket.mayControl(0))
    #expect(!ControlSocket.mayControl(65_534) || geteuid() == 65_534)
    #expect(!ControlSocket.mayControl(nil))
  }

  @Test func `a running server has applied the change when it answers`() async throws {
    try await TestServer.test { server in
      try await server.addUser("alice", .device)
      let stream = try #require(
        try await server.execute("GET", "/api/push/stream", as: "alice").stream)
      #expect(try await stream.next() != nil)
      _ = try await server.store.accounts.removeUser("alice")
      #expect(await ControlSocket.reload(in: server.configuration.data) == .applied)
      #expect(try await server.status("GET", "/api/notifications", as: "alice") == 401)
      while try await stream.next() != nil {}
    }
  }
}

/// What another user of the machine can do with the socket.
@Suite(.timeLimit(.minutes(1)), .enabled(if: getuid() == 0, "takes on another user"))
struct ControlSocketSystemTests {
  /// Connects so often, sends a request on each connection, prints what comes, and stays.
  private static let client = """
    import socket, sys, time
    try:
      clients = [socket.socket(socket.AF_UNIX) for _ in range(50)]
      for client in clients:
        client.connect(sys.argv[1])
        client.settimeout(5)
        client.send(b"reload\\n")
      print(set(client.recv(9) for client in clients))
    except OSError as error: print(type(error).__name__)
    """

  private func connectAsNobody(_ folder: String) throws -> String {
    let words = [
      "--reuid", "65534", "--regid", "65534", "--clear-groups", "/usr/bin/python3", "-c",
      Self.client, folder + "/control",
    ]
    let output = try StartedProgram.run("/usr/bin/setpriv", words).output
    return String(decoding: output, as: UTF8.self)
  }

  @Test func `another user cannot connect, and is not served where the mode would let it`()
    async throws
  {
    try await TestServer.test { server in
      let data = server.configuration.data
      #expect(try connectAsNobody(data) == "PermissionError\n")
      #expect(chmod(data + "/control", 0o666) == 0)
      let said = try connectAsNobody(data)
      #expect(["{b''}\n", "ConnectionResetError\n", "BrokenPipeError\n"].contains(said), "\(said)")
      #expect(await ControlSocket.reload(in: data) == .applied)
    }
  }
}
