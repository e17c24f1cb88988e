import Foundation
import Glibc

/// Makes the reply of a plugin's spooled answer, or says what is wrong with it.
struct AnswerReader {
  let plugin: Plugin
  let heads: LastHead
  let call: PluginCall
  let scratch: ScratchFolder
  let temporaryFolder: String

  private var verdict: Verdict { Verdict(on: plugin) }

  func reply(_ answer: AnswerSpool) async throws(Fault) -> PluginReply {
    guard answer.isHeadComplete else {
      throw verdict.broken(
        answer.head.isEmpty
          ? "it wrote nothing" : "its header has no end: \(Malformation.quoted(answer.head[...]))")
    }
    let reading: LastHead.Reading
    do throws(Malformation) {
      reading = try heads.reading(answer.head)
    } catch {
      throw verdict.broken(error.reason)
    }
    let head = reading.head
    if Verdict.refusals.contains(head.status) { throw refusal(head, answer.body) }
    if let location = head.location { return try redirect(to: location, head, answer.body) }
    guard head.status == 200 else { throw verdict.broken("its status is \(head.status)") }
    guard let type = head.contentType, !type.isEmpty else {
      throw verdict.broken("its answer has no Content-Type")
    }
    let isFacts = call.verb != .render && MediaRange.essence(of: type) == "application/json"
    guard reading.isProduced || isFacts else {
      throw verdict.broken("its answer is \(type), which is not in \"produces\"")
    }
    return PluginReply(
      status: 200, contentType: type, fields: head.fields, body: try await body(head, answer.body),
      location: nil, isStorable: head.isStorable)
  }

  private func body(_ head: AnswerHead, _ spool: Spool) async throws(Fault) -> PluginReply.Body {
    guard let name = head.sendFile else {
      if let told = head.contentLength, told != spool.count {
        throw verdict.broken("it said \(told) bytes of content and wrote \(spool.count)")
      }
      return spool.file.map { .file($0) } ?? .bytes(spool.bytes)
    }
    if name == "asset" {
      guard call.asset != nil else { throw verdict.broken("it sends an asset where there is none") }
      return .asset
    }
    guard let file = await scratch.open(name) else {
      throw verdict.broken(
        "its X-Sendfile \(Malformation.quoted(Array(name.utf8))) is no file under TMPDIR")
    }
    var copy = Spool(limit: plugin.manifest.limits.outputMiB << 20, folder: temporaryFolder)
    var malformation: Malformation?
    while malformation == nil {
      let isAtEnd = file.drain { piece in
        guard malformation == nil else { return }
        do throws(Malformation) { try copy.append(piece) } catch { malformation = error }
      }
      if isAtEnd { break }
    }
    if let malformation { throw verdict.broken(malformation.reason) }
    return copy.file.map { .file($0) } ?? .bytes(copy.bytes)
  }

  private func redirect(
    to location: String, _ head: AnswerHead, _ body: Spool
  ) throws(Fault) -> PluginReply {
    let lowered = location.lowercased()
    guard head.status == 302, lowered.hasPrefix("https://") || lowered.hasPrefix("http://"),
      let url = URL(string: location), url.host?.isEmpty == false
    else {
      throw verdict.broken(
        "its Location \(Malformation.quoted(Array(location.utf8))) is no absolute http URL")
    }
    return PluginReply(
      status: 302, contentType: "", fields: head.fields, body: .bytes([]), location: location,
      isStorable: head.isStorable)
  }

  private func refusal(_ head: AnswerHead, _ body: Spool) -> Fault {
    let retryAfter = head.fields.first { $0.name == "retry-after" }.flatMap { Int($0.value) }
    let sentence =
      RefusalText(type: head.contentType ?? "", body: body.bytes).sentence
      ?? "The plugin \(plugin.richType) refuses the content."
    return Fault(
      error: PluginError(status: head.status, reason: sentence, retryAfter: retryAfter),
      cause: "it says: \(sentence)")
  }
}
