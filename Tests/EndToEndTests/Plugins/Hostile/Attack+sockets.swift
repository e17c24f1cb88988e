import Foundation
import Testing

extension Attack {
  /// On who listens on this machine.
  static let onSockets = [
    Attack("Unix sockets, without the network", .filter) { ground in
      try await reached([.stream, .datagram, .abstract], as: .attack, ground)
    },
    Attack("Unix sockets, with the network granted", .filter) { ground in
      try await reached([.stream, .datagram, .abstract], as: .online, ground)
    },
    Attack("TCP, MPTCP and UDP without the network", .filter) { ground in
      try await reached([.tcp, .udp], as: .attack, ground)
    },
  ]

  /// Which of the attacks got through to sockets that anybody may use.
  private static func reached(
    _ kinds: [Listener.Kind], as type: HostileGround.RichType, _ ground: HostileGround
  ) async throws -> [String] {
    let folder = try Scratch()
    let name = "richpush-\(UUID())"
    var listeners: [Listener.Kind: Listener] = [:]
    for kind in kinds { listeners[kind] = try Listener(kind, in: folder.folder, name: name) }
    let words = [
      folder.folder.path + "/stream", folder.folder.path + "/datagram", name,
      "\(listeners[.tcp]?.port ?? 1)", "\(listeners[.udp]?.port ?? 1)",
    ]
    var hits: [String] = []
    for attack in kinds.flatMap(\.attacks) {
      let answer = try await ground.attack([attack], words, as: type)
      if listeners.values.reduce(false, { $1.wasReached() || $0 }) { hits.append(attack) }
      note(hits, answer)
    }
    return hits
  }
}

/// A socket that listens, or waits for datagrams.
final class Listener {
  enum Kind: Hashable {
    case stream, datagram, abstract, tcp, udp

    var attacks: [String] {
      switch self {
      case .stream: ["unix-stream"]
      case .datagram: ["unix-datagram", "unix-message", "unix-pair", "unix-pair-connected"]
      case .abstract: ["unix-abstract"]
      case .tcp: ["tcp", "tcp-fast", "mptcp"]
      case .udp: ["udp"]
      }
    }
  }

  let port: Int
  private let socket: Int32
  private let isStream: Bool

  init(_ kind: Kind, in folder: URL, name: String) throws {
    isStream = ![.datagram, .udp].contains(kind)
    let type = Int32((isStream ? SOCK_STREAM : SOCK_DGRAM).rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let isLocal = ![.tcp, .udp].contains(kind)
    socket = Glibc.socket(isLocal ? AF_UNIX : AF_INET, type | Int32(SOCK_NONBLOCK.rawValue), 0)
    let result: Int32
    if isLocal {
      let path = kind == .abstract ? "\0" + name : "\(folder.path)/\(kind)"
      result = Listener.bind(socket, to: path)
      if kind != .abstract { chmod(path, 0o777) }
      port = 0
    } else {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let socket = socket
      result = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          Glibc.bind(socket, $0, length) | getsockname(socket, $0, &length)
        }
      }
      port = Int(UInt16(bigEndian: address.sin_port))
    }
    try #require(result == 0 && (!isStream || listen(socket, 8) == 0))
  }

  deinit { close(socket) }

  private static func bind(_ socket: Int32, to path: String) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let length =
      socklen_t(MemoryLayout.offset(of: \sockaddr_un.sun_path) ?? 2) + socklen_t(bytes.count)
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.bind(socket, $0, length) }
    }
  }

  /// Whether anybody connected, or sent anything, since it was last asked.
  func wasReached() -> Bool {
    var count = 0
    var bytes = [UInt8](repeating: 0, count: 64)
    while case let peer = isStream ? accept(socket, nil, nil) : Int32(recv(socket, &bytes, 64, 0)),
      peer >= 0
    {
      count += 1
      if isStream { close(peer) }
    }
    return count > 0
  }
}
