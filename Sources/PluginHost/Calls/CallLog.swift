/// Writes log lines that name the plugin and the notification.
struct CallLog: Sendable {
  private let subject: String
  private let write: @Sendable (String) -> Void

  init(subject: String, write: @escaping @Sendable (String) -> Void) {
    self.subject = subject
    self.write = write
  }

  init(call: PluginCall, write: @escaping @Sendable (String) -> Void) {
    let id = call.id.map { ", notification \($0)" } ?? ""
    self.init(subject: "plugin \(call.richType), \(call.verb.rawValue)\(id)", write: write)
  }

  /// One line for a call that failed.
  func fail(_ fault: Fault) {
    write("\(subject): \(fault.error.status), \(fault.cause)")
  }

  /// A line for each that the plugin wrote to its standard error.
  func complain(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
      write("\(subject) says: \(line)")
    }
  }
}
