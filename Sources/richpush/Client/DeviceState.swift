import Foundation

/// What a phone remembers between two starts, in a hidden file of its folder.
struct DeviceState: Codable {
  /// The push token: 64 hexadecimal digits, as Apple's are.
  var handle: String
  /// The registration the server gave for the handle.
  var registration: String?
  /// The last push that was handled; the next start goes on behind it.
  var lastEvent: String?

  private static let fileName = ".device.json"

  /// The state in a folder, or that of a new phone.
  init(folder: URL) {
    let file = folder.appending(path: Self.fileName)
    if let data = try? Data(contentsOf: file),
      let state = try? JSONDecoder().decode(DeviceState.self, from: data)
    {
      self = state
      return
    }
    handle = (0..<32).map { _ in String(format: "%02X", UInt8.random(in: 0...255)) }.joined()
  }

  /// Takes the registration's id; another one than before means another server, with other events.
  mutating func register(as id: String) {
    if id != registration { lastEvent = nil }
    registration = id
  }

  /// Remembers where a phone stands that has just begun to listen and has handled no push yet.
  func save(to folder: URL, resumingAfter id: String) throws {
    guard lastEvent == nil, DeviceState(folder: folder).lastEvent == nil else { return }
    var state = self
    state.lastEvent = id
    try state.save(to: folder)
  }

  /// Writes the state, whole or not at all.
  func save(to folder: URL) throws {
    let data = try JSONEncoder().encode(self)
    try data.write(to: folder.appending(path: Self.fileName), options: .atomic)
  }
}
