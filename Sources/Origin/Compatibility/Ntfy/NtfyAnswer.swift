import FoundationEssentials
import HTTP
import Primitives
import RichPushAPI

/// The message as ntfy's server returns it, with the reach that only this one knows.
struct NtfyAnswer {
  enum Event: String {
    case message
    case deletion = "message_delete"
    case clearing = "message_clear"
  }

  var id: String
  let time: Date
  var event = Event.message
  let topic: String
  var sequence: String?
  var message: NtfyMessage?
  /// The name and the size of the file that came with it.
  var file: (name: String, type: String?, size: Int)?
  /// How many users and devices it reaches.
  var reach: RichNotification.Reach?

  var response: Response {
    let message = self.message
    let tags = message?.tags ?? []
    let members: [(name: String, value: String?)] = [
      ("id", JSONText.quoted(id)),
      ("time", String(Int(time.timeIntervalSince1970))),
      ("event", JSONText.quoted(event.rawValue)),
      ("topic", JSONText.quoted(topic)),
      ("sequence_id", (sequence ?? message?.sequence).map(JSONText.quoted)),
      ("title", message?.title.map(JSONText.quoted)),
      ("message", (message?.text).map(JSONText.quoted)),
      ("priority", message?.priority.map(String.init)),
      ("tags", tags.isEmpty ? nil : JSONText.array(tags)),
      ("click", message?.click.map(JSONText.quoted)),
      ("icon", message?.icon.map(JSONText.quoted)),
      ("actions", message.flatMap(Self.actions)),
      ("attachment", attachment),
      ("content_type", message?.isMarkdown == true ? JSONText.quoted("text/markdown") : nil),
      (
        "reach",
        reach.map { JSONText.object(["users": String($0.users), "devices": String($0.devices)]) }
      ),
    ]
    return .foreign(200, JSONText.object(members))
  }

  private static func actions(of message: NtfyMessage) -> String? {
    let items = message.views.enumerated().map { index, view in
      JSONText.object([
        "id": JSONText.quoted("view-\(index + 1)"), "action": JSONText.quoted("view"),
        "label": JSONText.quoted(view.label), "clear": view.clear ? "true" : "false",
        "url": JSONText.quoted(view.url),
      ])
    }
    return items.isEmpty ? nil : "[" + items.joined(separator: ",") + "]"
  }

  private var attachment: String? {
    if let attach = message?.attach {
      let name = message?.filename ?? attach.split(separator: "/").last.map(String.init) ?? ""
      return JSONText.object(["name": JSONText.quoted(name), "url": JSONText.quoted(attach)])
    }
    return file.map { file in
      // Devices have links of their own.
      JSONText.object([
        "name": JSONText.quoted(file.name), "type": file.type.map(JSONText.quoted),
        "size": String(file.size), "url": JSONText.quoted(""),
      ])
    }
  }
}

/// How ntfy's API writes credentials and errors.
struct NtfyDialect: Dialect {
  /// Also in the query, as base64url of the whole value.
  func authorization(of request: Request, _ parameters: [String]) -> String? {
    if let value = request.fields["Authorization"] { return value }
    guard let encoded = request.query["auth"] else { return nil }
    let base64 = encoded.trimming { $0 == "=" }.replacing("-", with: "+").replacing("_", with: "/")
    let padding = String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
    return Data(base64Encoded: base64 + padding).flatMap { String(validating: $0, as: UTF8.self) }
      ?? ""
  }

  func response(to problem: ForeignProblem) -> Response {
    let code = Self.code(of: problem)
    let detail =
      problem.status == 401
      ? "The access token, or the name and the password, are missing or wrong." : problem.detail
    let text = JSONText.object([
      "code": String(code), "http": String(code / 100), "error": JSONText.quoted(detail),
    ])
    return .foreign(code / 100, text)
  }

  /// ntfy's number for an error; its first three digits are the status.
  private static func code(of problem: ForeignProblem) -> Int {
    switch problem.plainStatus {
    case 401: 40101
    case 403: 40301
    case 404, 410: 40401
    case 413: problem.member == "json" ? 41303 : 41301
    case 429: 42901
    case 400: invalidCode(problem)
    // ntfy has no numbers for the others.
    case let status: status * 100 + 1
    }
  }

  private static func invalidCode(_ problem: ForeignProblem) -> Int {
    switch problem.member {
    case "email": 40001
    case "delay", "notBefore": 40004
    case "priority": 40007
    case "since": 40008
    case "topic": problem.status == 422 ? 40010 : 40009
    case "attach": 40013
    case "json": 40017
    case "actions": 40018
    case "icon": 40021
    case "call": 40032
    case "template": 40043
    case _ where problem.status == 415: 40014
    default: 40000
    }
  }
}
