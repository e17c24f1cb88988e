import Dispatch
import FoundationEssentials
import Glibc
import HTTP
import Media
import Primitives
import Store
import Synchronization

/// Writes a line of JSON for every response, on its own dispatch queue.
///
/// An event loop only appends the record to a list. If the disk is too slow, lines are dropped, and a
/// line with their number is written instead.
final class AccessLog: Sendable {
  private struct Pending {
    var entries: [(record: AccessRecord, time: Date)] = []
    var dropped = 0
    var isScheduled = false
  }

  private let path: String
  private let caller: @Sendable (Request) -> Caller?
  private let pending = Mutex(Pending())
  private let file: Mutex<FileDescriptor>
  private let queue = DispatchQueue(label: "richpush.access")
  private static let capacity = 50_000
  /// How long lines are collected before they are written, in seconds.
  private static let delay = 0.05

  /// Opens the file for appending; `-` is standard output.
  ///
  /// `caller` tells whose credentials a request has, if they were verified.
  init(
    path: String, caller: @escaping @Sendable (Request) -> Caller?
  ) throws(OperatorError) {
    (self.path, self.caller) = (path, caller)
    file = Mutex(try Self.open(path))
  }

  /// Opens the file again, since it may have been renamed (logrotate).
  func reopen() throws(OperatorError) {
    if path == "-" { return }
    let new = try Self.open(path)
    file.withLock { $0 = new }
  }

  /// Logs a response; called on an event loop's thread.
  func add(_ record: AccessRecord) {
    let time = Date()
    let mustSchedule = pending.withLock { pending in
      guard pending.entries.count < Self.capacity else {
        pending.dropped += 1
        return false
      }
      pending.entries.append((record, time))
      defer { pending.isScheduled = true }
      return !pending.isScheduled
    }
    if mustSchedule { queue.asyncAfter(deadline: .now() + Self.delay) { self.write() } }
  }

  /// Writes the pending lines, before the server ends.
  func flush() { queue.sync { write() } }

  private func write() {
    let (entries, dropped) = pending.withLock { pending in
      defer { pending = Pending() }
      return (pending.entries, pending.dropped)
    }
    var text = entries.reduce(into: "") { $0 += line($1.record, $1.time) }
    if dropped > 0 { text += "{\"dropped\":\(dropped)}\n" }
    let bytes = Array(text.utf8)
    file.withLock { file in _ = try? file.write(bytes) }
  }

  private func line(_ record: AccessRecord, _ time: Date) -> String {
    let time = time.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    var text = "{\"time\":\"\(time)\",\"id\":\(JSONText.quoted(record.id))"
    text += ",\"client\":\(JSONText.quoted(record.request?.peer ?? record.peer))"
    if let request = record.request {
      text +=
        ",\"method\":\"\(request.method)\",\"target\":\(JSONText.quoted(request.loggedTarget))"
      if let agent = request.fields["User-Agent"] {
        text += ",\"userAgent\":\(JSONText.quoted(agent))"
      }
      if let caller = caller(request) {
        // The number, which does not name a user who was erased.
        text += ",\"user\":\(caller.id.rawValue)"
        if let device = caller.device { text += ",\"device\":\(JSONText.quoted(device))" }
      }
    }
    text += ",\"route\":\(JSONText.quoted(record.route)),\"status\":\(record.status)"
    text += ",\"bytes\":\(record.bytes),\"seconds\":\(record.seconds)"
    return text + ",\"complete\":\(record.isComplete)}\n"
  }

  private static func open(_ path: String) throws(OperatorError) -> FileDescriptor {
    do throws(Errno) {
      // Standard output itself must stay open when the log is closed.
      guard path == "-" else { return try FileDescriptor(path, O_WRONLY | O_CREAT | O_APPEND) }
      let copy = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
      guard let file = FileDescriptor(owning: copy) else { throw .current }
      return file
    } catch {
      throw OperatorError("--access-log: \(path): \(error)")
    }
  }
}

extension HTTP.Request {
  /// The target for logs, without a signature, with which a reader could fetch the media, without a code, with which a
  /// reader could pair a device, without an access token, and without users' names.
  ///
  /// Only the signature or the code is removed from a link as this server writes it. Any other target that may
  /// contain one, however it is encoded, is replaced as a whole.
  var loggedTarget: String {
    let address = /\/media\/[0-9]+\/[A-Za-z0-9._;=-]+\?expires=[0-9]+&key=[0-9]+&signature=/
    if let match = target.prefixMatch(of: address) { return match.output + "-" }
    let isMedia = segments.first { !$0.isEmpty }?.lowercased() == "media"
    if isMedia || Self.holds("signature=", in: target) { return "/media/-" }
    // A code of a provider, and the state of a sign-in.
    if segments.first?.lowercased() == "auth", target.contains("?") {
      return (target.wholeMatch(of: /(\/auth\/[a-z-]+\?).*/)?.1 ?? "/") + "-"
    }
    // The credentials of other programs' APIs: an access token may be wherever their clients like.
    if Self.holds(AccessToken.prefix, "auth=", "token=", in: target) { return "/-" }
    if Self.holds("pair=", in: target) {
      let page = target.wholeMatch(of: /(\/app\/(?:[a-z]+\.webmanifest)?\?pair=)[A-Za-z0-9_-]*/)
      return page.map { $0.1 + "-" } ?? "/-"
    }
    // The end of a link, with which a device reports what happened.
    if method == "POST", target.contains(/to=[0-9]+\./) {
      return target.replacing(/to=[0-9]+\.[^&]*/, with: "to=-")
    }
    return targetWithoutNames
  }

  /// The target without the names of users, and without what is searched for; numbers stay.
  private var targetWithoutNames: String {
    let parts = segments.filter { !$0.isEmpty }
    let isOfUser =
      parts.count > 2 && parts[0] == "api" && ["users", "sign-ups"].contains(parts[1])
    let path =
      isOfUser
      ? "/api/\(parts[1])/-" + parts.dropFirst(3).map { "/" + $0 }.joined()
      : String(target.prefix { $0 != "?" })
    guard let start = target.firstIndex(of: "?") else { return path }
    // A value that names nobody is a number, or one of these.
    let query = target[target.index(after: start)...].split(
      separator: "&", omittingEmptySubsequences: false
    ).map { item -> String in
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, Self.mayName.contains(parts[0].lowercased()) || parts[0].contains("%")
      else { return String(item) }
      return parts[1].allSatisfy(\.isNumber) ? String(item) : "\(parts[0])=-"
    }
    return path + "?" + query.joined(separator: "&")
  }

  /// The parameters that may have the name of a user, or a text; other programs' APIs have a whole message in them.
  private static let mayName: Set<String> = [
    "a", "actions", "after", "attach", "body", "call", "click", "email", "extras", "f", "filename",
    "handle", "icon", "m", "message", "name", "prefix", "search", "segment", "sender", "subject",
    "subtitle", "t", "ta", "tags", "title", "to", "to_tag", "url", "user",
  ]

  private static func holds(_ names: String..., in target: String) -> Bool {
    var text = target
    for _ in 0..<4 {
      let lower = text.lowercased()
      if names.contains(where: lower.contains) { return true }
      let decoded = text.replacing(/%([0-7][0-9A-Fa-f])/) { escape in
        UInt8(escape.1, radix: 16).map { String(Unicode.Scalar($0)) } ?? ""
      }
      if decoded == text { return false }
      text = decoded
    }
    return true
  }
}
