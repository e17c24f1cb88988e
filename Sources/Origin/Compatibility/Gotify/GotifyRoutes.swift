import Delivery
import FoundationEssentials
import HTTP
import Primitives
import RichPushAPI
import Store

/// Gotify's API for publishers: an application is an access token, whose recipients get the message.
struct GotifyRoutes: Sendable {
  let publishing: CompatiblePublishing

  var routes: [Route] {
    [
      Route(
        "POST", "/message", for: .publisher, by: .accessToken, body: .memory(limit: 64 << 10),
        deadline: .seconds(120), in: GotifyDialect(), post)
    ]
  }

  /// `POST /message`.
  private func post(_ context: RequestContext) async throws -> Response {
    _ = try context.query("token")
    let message = try GotifyMessage(
      FormBody.members(context.body, type: context.request.fields["Content-Type"]))
    let published = try await publishing.publish(
      message.notification(to: publishing.ownAudience(context)), from: "gotify", context)
    let new = published.notification
    let members: [(name: String, value: String?)] = [
      ("id", String(new.id)), ("appid", "1"),
      ("message", JSONText.quoted(message.text)),
      ("title", JSONText.quoted(message.title ?? "")),
      ("priority", String(message.priority ?? 5)),
      (
        "extras",
        message.extras.isEmpty ? nil : JSONCoding.text(JSONValue.object(message.extras))
      ),
      ("date", JSONText.quoted(new.created.formatted(.iso8601))),
    ]
    return .foreign(200, JSONText.object(members))
  }
}

/// How Gotify's API writes credentials and errors.
struct GotifyDialect: Dialect {
  /// The token of an application, in a field, in the query, or as a bearer token.
  func authorization(of request: Request, _ parameters: [String]) -> String? {
    let token = request.query["token"] ?? request.fields["X-Gotify-Key"]
    return token.map { "Bearer " + $0 } ?? request.fields["Authorization"]
  }

  func response(to problem: ForeignProblem) -> Response {
    let status = problem.plainStatus
    let detail =
      status == 401 ? "The token is no access token, or it has ended." : problem.detail
    let text = JSONText.object([
      "error": JSONText.quoted(Response.reason(of: status)), "errorCode": String(status),
      "errorDescription": JSONText.quoted(detail),
    ])
    return .foreign(status, text)
  }
}
