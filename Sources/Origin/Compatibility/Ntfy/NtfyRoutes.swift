import Delivery
import FoundationEssentials
import HTTP
import Intake
import Primitives
import RichPushAPI
import Store

/// ntfy's API: for publishers a topic is the tag of that name.
struct NtfyRoutes: Sendable {
  let publishing: CompatiblePublishing
  let reading: NtfyReading
  /// The largest file that comes with a message, as at ntfy's own server.
  static let largestFile = 15 << 20
  private static let dialect = NtfyDialect()

  /// The routes, for an address or a host name of their own.
  var site: RouteSite { RouteSite(routes, prefix: "ntfy ", dialect: Self.dialect) }

  private var routes: [Route] {
    let pages: [Route] = ["/{}", "/{}/{}"].flatMap { pattern in
      ["POST", "PUT"].map { method in
        Route(
          method, pattern, for: .publisher, by: .accessToken,
          body: .textOrFile(text: 64 << 10, limit: Self.largestFile), deadline: .seconds(120),
          ready: requireTopic, in: Self.dialect, publish)
      }
    }
    let triggers: [Route] = ["publish", "send", "trigger"].map { word in
      Route(
        "GET", "/{}/\(word)", for: .publisher, by: .accessToken, deadline: .seconds(120),
        in: Self.dialect, publish)
    }
    let others: [Route] = [
      Route("GET", "/v1/health", for: .anybody, in: Self.dialect, immediate: health),
      Route("DELETE", "/{}/{}", for: .publisher, by: .accessToken, in: Self.dialect, delete),
    ]
    let root: [Route] = ["POST", "PUT"].map { method in
      Route(
        method, "/", for: .publisher, by: .accessToken, body: .memory(limit: 64 << 10),
        deadline: .seconds(120), in: Self.dialect, publishJSON)
    }
    return pages + triggers + others + root + reading.routes(in: Self.dialect)
  }

  /// `GET /v1/health`.
  private func health(_ context: RequestContext) -> Response {
    .foreign(200, #"{"healthy":true}"#)
  }

  /// Checks the topic before the body is read.
  private func requireTopic(_ context: RequestContext) throws -> Response? {
    _ = try NtfyTopic(context.parameters.first ?? "")
    return nil
  }

  /// `POST /` with a JSON object.
  private func publishJSON(_ context: RequestContext) async throws -> Response {
    let parameters = try NtfyParameters(context.request, context.body)
    let topic = try NtfyTopic(parameters.topic ?? "")
    return try await publish(parameters, to: topic, nil, context)
  }

  /// `POST /<topic>`, `POST /<topic>/<sequence>` and `GET /<topic>/publish`: the body is the text or a file.
  private func publish(_ context: RequestContext) async throws -> Response {
    try requirePlain(context.request)
    let parameters = try NtfyParameters(context.request)
    let topic = try NtfyTopic(context.parameters.first ?? "")
    return try await publish(parameters, to: topic, try body(context, parameters), context)
  }

  /// A body, as it is understood.
  private enum Body {
    case text(String)
    case file(AttachedFile)
  }

  /// - Throws: for encrypted content, which UnifiedPush sends.
  private func requirePlain(_ request: Request) throws(ServiceError) {
    guard let coding = request.fields["Content-Encoding"], coding.lowercased() != "identity" else {
      return
    }
    throw ServiceError(
      .unsupportedType, "The body must not have a Content-Encoding, not \(coding.quoted).")
  }

  /// What the body is: a file if it has a name or cannot be a text.
  ///
  /// A named file that is a text without a message of its own is the message: so clients send long texts.
  private func body(
    _ context: RequestContext, _ parameters: NtfyParameters
  ) throws -> Body? {
    if MultipartForm.isForm(context.request) { return try fileInForm(context, parameters) }
    // Of what comes in chunks, as from a pipe, the length was not known before.
    if let saved = context.file, saved.size > NtfyMessage.longestText {
      return .file(.init(content: .saved(saved), name: parameters[.filename]))
    }
    let bytes = try context.bytes()
    guard !bytes.isEmpty else { return nil }
    let isNamed = parameters[.filename] != nil && parameters[.attach] == nil
    let text =
      bytes.count <= NtfyMessage.longestText && !bytes.contains(0)
      ? String(validating: bytes, as: UTF8.self) : nil
    if let text, !isNamed || parameters[.message] == nil { return .text(text) }
    return .file(.init(content: .bytes(bytes), name: parameters[.filename]))
  }

  /// Apprise of Debian 12 sends a file as a form of one part.
  private func fileInForm(
    _ context: RequestContext, _ parameters: NtfyParameters
  ) throws -> Body {
    let form = try context.form()
    guard let file = try form.file(), form.parts.count == 1 else {
      throw ServiceError(.invalidRequest, "The form must have one file, and nothing else.")
    }
    let name = parameters[.filename] ?? file.fileName
    return .file(AttachedFile(content: .bytes(Array(file.content)), name: name))
  }

  private func publish(
    _ parameters: NtfyParameters, to topic: NtfyTopic, _ body: Body?, _ context: RequestContext
  ) async throws -> Response {
    let now = Date()
    var (text, file) = (
      parameters[.message]?.replacing("\\n", with: "\n"), nil as AttachedFile?
    )
    switch body {
    case .text(let body): text = body.trimming(\.isWhitespace)
    case .file(let found):
      guard parameters[.attach] == nil else {
        throw ServiceError(
          .init("attach", .rejected, "A message has one file: in its body, or by attach."))
      }
      file = found
      if text == nil {
        text = "You received a file: \(AttachedFile.shownName(found.name).value)"
      }
    case nil:
      if let attach = parameters[.attach], text == nil {
        let name = parameters[.filename] ?? attach.split(separator: "/").last.map(String.init)
        text = "You received a file: \(AttachedFile.shownName(name).value)"
      } else if parameters[.filename] != nil, parameters[.attach] == nil {
        throw ServiceError(
          .init("filename", .rejected, "There is no file of this name: send it as the body."))
      }
    }
    if text?.isEmpty ?? true { text = "triggered" }
    let sequence = context.parameters.count > 1 ? context.parameters[1] : nil
    let message = try NtfyMessage(
      parameters, topic: topic, sequence: sequence, text: text ?? "",
      contentType: context.request.fields["Content-Type"], now: now)
    let former = try await earlier(of: message, context)
    var answer = NtfyAnswer(id: NtfyID.random(), time: message.time ?? now, topic: topic.name)
    answer.message = message
    do {
      let published = try await publishing.publish(
        message.notification, with: file, from: "ntfy", context)
      // What was published without a sequence has none that the new one could take the place of.
      if let former { _ = try await publishing.store.notifications.withdraw(former) }
      let new = published.notification
      (answer.id, answer.reach) = (NtfyID.text(new.id), published.reach)
      if file != nil, let media = new.media {
        answer.file = (media.payload, new.blobType, new.blob?.size ?? 0)
      }
    } catch let error as ServiceError where error.code == .noRecipients {
      // At ntfy a topic exists as soon as somebody names it.
      answer.reach = RichNotification.Reach(
        users: 0, devices: 0, unknown: [], devicesWithoutLane: 0)
    }
    return answer.response
  }

  /// The caller's message without a sequence that a sequence names by its ID, which a new one is to take the place of.
  private func earlier(of message: NtfyMessage, _ context: RequestContext) async throws -> Int? {
    guard let sequence = message.sequence, let id = NtfyID.number(sequence),
      let found = try await publishing.own(id, context), found.to == [message.topic.name],
      found.replacedBy == nil
    else { return nil }
    return found.id
  }

  /// `DELETE /<topic>/<sequence>`: the caller withdraws its latest message of a sequence, or the one with that ID.
  private func delete(_ context: RequestContext) async throws -> Response {
    let topic = try NtfyTopic(context.parameters.first ?? "")
    let sequence = context.parameters.last ?? ""
    var found = try await publishing.own(about: topic.subject(sequence), context)
    if found == nil, let id = NtfyID.number(sequence),
      let named = try await publishing.own(id, context), named.to == [topic.name]
    {
      found = named
    }
    guard let found, try await publishing.store.notifications.withdraw(found.id) else {
      throw ServiceError(
        .notFound, "You have no message \(String(sequence.prefix(64)).quoted) in this topic.")
    }
    return NtfyAnswer(
      id: NtfyID.random(), time: Date(), event: .deletion, topic: topic.name, sequence: sequence
    ).response
  }
}
