import CLinux
@preconcurrency import Dispatch
import Glibc
import Media
import Primitives

/// The socket in the data folder through which commands notify a running server of their changes.
///
/// A client sends the line `reload`. The server applies the changes, and responds with the line `ok` or with
/// a sentence about the failure. To the line `address` it responds with its address for phones and, after a space,
/// `demo` in demo mode, or `oidc` and the provider at which people sign in. Only the folder's owner and root can
/// connect (mode 0600), and the kernel confirms who did (SO_PEERCRED). Clients are served one after another.
package final class ControlSocket: Sendable {
  private let listener: FileDescriptor
  private let source: any DispatchSourceRead
  private let path: String
  private let server: Server
  private let reload: @Sendable () async throws -> Void

  private static let name = "control"
  private static let request = "reload\n"
  private static let question = "address\n"
  private static let confirmation = "ok\n"
  /// The most bytes of a request or an answer.
  private static let lineLimit = 4096
  /// Clients that may wait to be accepted.
  private static let backlog: Int32 = 8
  /// The seconds in which a client must have sent its request.
  private static let requestTimeout = 1
  /// The seconds for which a client waits for its answer.
  private static let answerTimeout = 10

  /// Listens in a data folder that this process owns, calls `reload` for each request, and tells of `server`.
  ///
  /// A socket that a killed server left there is replaced.
  ///
  /// - Throws: `OperatorError` if there can be no socket in the folder.
  init(
    in folder: String, describing server: Server = Server(address: "", isDemo: false),
    reload: @escaping @Sendable () async throws -> Void
  ) throws {
    do {
      let folder = try FileDescriptor(folder, O_RDONLY | O_DIRECTORY)
      let socket = try Self.socket(timeout: Self.requestTimeout, flags: SOCK_NONBLOCK.rawValue)
      unlinkat(folder.number, Self.name, 0)
      try UnixSocketAddress(Self.name, in: folder).bind(socket)
      // Nobody can connect before listen(2), so the mode is set in time.
      guard fchmodat(folder.number, Self.name, 0o600, 0) == 0,
        listen(socket.number, Self.backlog) == 0
      else { throw Errno.current }
      listener = socket
    } catch {
      throw OperatorError("cannot create the socket \(folder)/\(Self.name): \(error)")
    }
    (self.path, self.server, self.reload) = ("\(folder)/\(Self.name)", server, reload)
    source = DispatchSource.makeReadSource(
      fileDescriptor: listener.number, queue: DispatchQueue(label: "richpush.control"))
    source.setEventHandler { [weak self] in self?.serveNext() }
    source.setCancelHandler { [listener] in withExtendedLifetime(listener) {} }
    source.activate()
  }

  /// Stops listening, and removes the socket.
  func stop() {
    source.cancel()
    unlink(path)
  }

  private func serveNext() {
    let client = accept4(listener.number, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
    guard let client = FileDescriptor(owning: client), Self.mayControl(Self.peer(of: client)),
      (try? Self.setTimeout(Self.requestTimeout, of: client)) != nil,
      // A line of this length arrives in one piece.
      let line = try? client.readSome(limit: Self.lineLimit)
    else { return }
    if line == Array(Self.question.utf8) {
      let issuer = server.issuer.map { " oidc \($0)" } ?? ""
      return Self.send("\(server.address)\(server.isDemo ? " demo" : issuer)\n", to: client)
    }
    guard line == Array(Self.request.utf8) else { return }
    source.suspend()
    Task { [self] in
      let answer: String
      do {
        try await reload()
        answer = Self.confirmation
      } catch { answer = String(error.logDescription.prefix(Self.lineLimit / 4)) + "\n" }
      Self.send(answer, to: client)
      source.resume()
    }
  }

  /// Whether a user may use the socket of this process.
  static func mayControl(_ user: uid_t?) -> Bool { user == geteuid() || user == 0 }

  private static func peer(of client: FileDescriptor) -> uid_t? {
    // `struct ucred`, which Swift's Glibc does not show.
    var peer = (process: pid_t(0), user: uid_t(0), group: gid_t(0))
    var size = socklen_t(MemoryLayout.size(ofValue: peer))
    let result = getsockopt(client.number, SOL_SOCKET, SO_PEERCRED, &peer, &size)
    return result == 0 ? peer.user : nil
  }
}

// MARK: - The client

extension ControlSocket {
  /// What a server tells of itself.
  package struct Server: Sendable, Equatable {
    /// Its address for phones: its public URL, or else where it listens.
    package let address: String
    /// Whether every user name is accepted.
    package let isDemo: Bool
    /// The provider of OpenID Connect at which people sign in; nil without one.
    package var issuer: String?
  }

  /// What a server answered.
  package enum Answer: Sendable, Equatable {
    /// The server applied the change.
    case applied
    /// No server runs on the data folder.
    case noServer
    /// A server runs, but has not applied the change, for this reason.
    case failed(String)
  }

  /// Has the server that runs on a data folder apply what this process changed, and waits for it.
  package static func reload(in folder: String) async -> Answer {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        do throws(Errno) {
          continuation.resume(returning: try askToReload(in: folder))
        } catch {
          // Without a socket, or with one that nobody listens on.
          let isAlone = [ENOENT, ECONNREFUSED].contains(error.rawValue)
          continuation.resume(
            returning: isAlone
              ? .noServer : error.rawValue == EAGAIN ? .failed("no answer") : .failed("\(error)"))
        }
      }
    }
  }

  /// What the server that runs on a data folder tells of itself; nil if none runs, or it does not answer.
  package static func server(in folder: String) async -> Server? {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        let answer = try? ask(question, in: folder)
        let words = (answer ?? "").dropLast().split(separator: " ").map(String.init)
        let issuer = words.count == 3 && words[1] == "oidc" ? words[2] : nil
        continuation.resume(
          returning: words.first.map {
            Server(address: $0, isDemo: words.dropFirst() == ["demo"], issuer: issuer)
          })
      }
    }
  }

  private static func askToReload(in folder: String) throws(Errno) -> Answer {
    let answer = try ask(request, in: folder)
    if answer == confirmation { return .applied }
    return .failed(answer.isEmpty ? "it ended the connection" : String(answer.dropLast()))
  }

  private static func ask(_ line: String, in folder: String) throws(Errno) -> String {
    let server = try socket(timeout: answerTimeout)
    try UnixSocketAddress(name, in: folder).connect(server)
    send(line, to: server)
    return String(decoding: try server.readSome(limit: lineLimit), as: UTF8.self)
  }
}

// MARK: - Sockets

extension ControlSocket {
  private static func socket(timeout: Int, flags: UInt32 = 0) throws(Errno) -> FileDescriptor {
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | flags)
    guard let socket = FileDescriptor(owning: Glibc.socket(AF_UNIX, type, 0)) else {
      throw Errno.current
    }
    try setTimeout(timeout, of: socket)
    return socket
  }

  private static func setTimeout(_ seconds: Int, of socket: FileDescriptor) throws(Errno) {
    var time = timeval(tv_sec: seconds, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      let size = socklen_t(MemoryLayout<timeval>.size)
      guard setsockopt(socket.number, SOL_SOCKET, option, &time, size) == 0 else {
        throw Errno.current
      }
    }
  }

  private static func send(_ line: String, to socket: FileDescriptor) {
    _ = Glibc.send(socket.number, line, line.utf8.count, Int32(MSG_NOSIGNAL))
  }
}
