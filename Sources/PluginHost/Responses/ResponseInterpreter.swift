import FoundationEssentials
import Primitives
import Synchronization

/// Checks a plugin's response against the contract (`docs/PLUGINS.md`) and its manifest, and makes the reply.
final class ResponseInterpreter: Sendable {
  /// A parsed header.
  private struct Reading: Sendable {
    let bytes: [UInt8]
    let head: CGIResponseHead
    /// Why a rendition must not have its media type; nil if it may.
    let objection: String?
  }

  private let plugin: Plugin
  private let temporaryFolder: String
  /// Most responses of a plugin have the same header, which then need not be parsed again.
  private let lastReading = Mutex<Reading?>(nil)

  /// Interprets the responses of one version of a plugin; large content goes to the temporary folder.
  init(of plugin: Plugin, temporaryFolder: String) {
    (self.plugin, self.temporaryFolder) = (plugin, temporaryFolder)
  }

  /// Where to collect a response.
  func buffer() -> CGIResponseBuffer {
    CGIResponseBuffer(limit: plugin.manifest.limits.outputMiB << 20, folder: temporaryFolder)
  }

  /// The reply that a complete response means.
  ///
  /// The `response` is the standard output of a call that ended well, `scratch` the process's TMPDIR, for a
  /// file that the response names.
  ///
  /// - Throws: The plugin's refusal, or ``PluginError/Code/failed`` if it broke the contract.
  func reply(
    _ response: CGIResponseBuffer, to call: PluginCall, scratch: ScratchFolder
  ) async throws(PluginError) -> PluginReply {
    guard response.isHeadComplete else {
      throw plugin.failure(
        response.head.isEmpty
          ? "it wrote nothing" : "its header has no end: \(MalformedOutput.quoted(response.head))")
    }
    let reading = try read(response.head)
    let head = reading.head
    if let code = Self.refusals[head.status] { throw refusal(code, head, response.body) }
    if let location = head.location { return try redirect(to: location, head) }
    guard head.status == 200 else { throw plugin.failure("its status is \(head.status)") }
    guard let type = head.contentType, !type.isEmpty else {
      throw plugin.failure("its answer has no Content-Type")
    }
    let isFacts = call.verb != .render && MediaRange.essence(of: type) == "application/json"
    if !isFacts, let objection = reading.objection { throw plugin.failure(objection) }
    let body = try await content(head, response.body, call, scratch)
    return PluginReply(
      contentType: type, body: body, fields: head.fields, isStorable: head.isStorable)
  }

  private func read(_ head: [UInt8]) throws(PluginError) -> Reading {
    if let known = lastReading.withLock({ $0?.bytes == head ? $0 : nil }) { return known }
    do throws(MalformedOutput) {
      let parsed = try CGIResponseHead(head)
      let reading = Reading(
        bytes: head, head: parsed, objection: parsed.contentType.flatMap(plugin.objection))
      lastReading.withLock { $0 = reading }
      return reading
    } catch {
      throw plugin.failure(error.description)
    }
  }

  private func content(
    _ head: CGIResponseHead, _ spool: Spool, _ call: PluginCall, _ scratch: ScratchFolder
  ) async throws(PluginError) -> PluginReply.Body {
    guard let name = head.sendFile else {
      if let length = head.contentLength, length != spool.count {
        throw plugin.failure("its Content-Length is \(length), and it wrote \(spool.count) bytes")
      }
      return spool.content
    }
    if name == "asset" {
      guard call.asset != nil else {
        throw plugin.failure("it sends an asset where there is none")
      }
      return .asset
    }
    guard let file = await scratch.open(name) else {
      throw plugin.failure(
        "its X-Sendfile \(MalformedOutput.quoted(name.utf8)) is no file under TMPDIR")
    }
    // A copy: the plugin could change the file while the reply is sent.
    var copy = buffer().body
    var isAtEnd = false
    while !isAtEnd {
      var failure: MalformedOutput?
      isAtEnd = file.drain { piece in
        do throws(MalformedOutput) {
          if failure == nil { try copy.append(piece) }
        } catch { failure = error }
      }
      if let failure { throw plugin.failure(failure.description) }
    }
    return copy.content
  }

  private func redirect(
    to location: String, _ head: CGIResponseHead
  ) throws(PluginError) -> PluginReply {
    guard head.status == 302 else {
      throw plugin.failure("its Location comes with the status \(head.status), not 302 or none")
    }
    let lowered = location.lowercased()
    guard lowered.hasPrefix("https://") || lowered.hasPrefix("http://"),
      let url = URL(string: location), url.host?.isEmpty == false
    else {
      throw plugin.failure(
        "its Location \(MalformedOutput.quoted(location.utf8)) is no absolute http URL")
    }
    return PluginReply(redirectTo: location, fields: head.fields)
  }

  /// The statuses with which a plugin may refuse a call; its sentence reaches the caller.
  private static let refusals: [Int: PluginError.Code] = [
    404: .notFound, 410: .gone, 415: .unsupportedMediaType, 422: .invalidContent,
    451: .unavailableForLegalReasons, 503: .busy,
  ]

  /// The longest time after which a plugin has a call tried again, in seconds: a day.
  private static let longestPause = 86_400

  private func refusal(
    _ code: PluginError.Code, _ head: CGIResponseHead, _ body: Spool
  ) -> PluginError {
    let retryAfter = head.fields.first { $0.name == "retry-after" }.flatMap { Int($0.value) }
      .flatMap { $0 < 0 ? nil : min($0, Self.longestPause) }
    let sentence =
      Self.sentence(in: body.bytes, type: head.contentType ?? "")
      ?? "The plugin \(plugin.richType) refuses the content."
    return PluginError(code, sentence, retryAfter: retryAfter, cause: "it says: \(sentence)")
  }

  /// The members of a problem document that are sentences (RFC 9457).
  private struct ProblemText: Decodable {
    var title, detail: String?
  }

  /// The sentence in the content of a refusal: on one line, at most 500 characters; nil if there is none.
  static func sentence(in body: [UInt8], type: String) -> String? {
    let text =
      switch MediaRange.essence(of: type) {
      case "application/problem+json", "application/json":
        // Longer than any problem document: a plugin cannot make the server parse megabytes.
        body.count > 65_536
          ? nil
          : (try? JSONDecoder().decode(ProblemText.self, from: Data(body)))
            .flatMap { $0.detail ?? $0.title }
      case "text/plain": String(validating: body.prefix(4096), as: UTF8.self)
      default: nil as String?
      }
    let line = text.map { text in
      String(text.prefix(500).map { $0.isNewline || $0 == "\0" ? " " : $0 })
        .trimming(\.isWhitespace)
    }
    return line?.isEmpty == false ? line : nil
  }
}
