/// Writes log lines that name the plugin and the notification.
struct CallLog: Sendable {
  /// Of what the lines speak; written out for the few calls that have any.
  private enum Subject {
    case process(richType: String)
    case call(richType: String, PluginCall.Verb, id: String?)
  }

  private let about: Subject
  private let write: @Sendable (String) -> Void

  /// Speaks of a process that has no call.
  init(richType: String, write: @escaping @Sendable (String) -> Void) {
    (about, self.write) = (.process(richType: richType), write)
  }

  /// Speaks of a call.
  init(call: PluginCall, write: @escaping @Sendable (String) -> Void) {
    (about, self.write) = (.call(richType: call.richType, call.verb, id: call.id), write)
  }

  private var subject: String {
    switch about {
    case .process(let richType): "plugin \(richType)"
    case .call(let richType, let verb, let id):
      "plugin \(richType), \(verb.rawValue)" + (id.map { ", notification \($0)" } ?? "")
    }
  }

  /// One line for a call that failed.
  func fail(_ fault: Fault) {
    note("\(fault.error.status), \(fault.cause)")
  }

  /// One line about its process.
  func note(_ sentence: String) {
    write("\(subject): \(sentence)")
  }

  /// A line for each that the plugin wrote to its standard error.
  func complain(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
      write("\(subject) says: \(line)")
    }
  }
}
