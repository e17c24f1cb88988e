import FoundationEssentials

/// The operator's own gateway: each push is posted to it as signed JSON.
package struct WebhookProvider: PushProvider {
  private let webhook: Webhook

  /// A provider that posts to this webhook.
  package init(_ webhook: Webhook) { self.webhook = webhook }

  package var name: String { "webhook" }
  package var capacity: Int { Webhook.capacity }
  package var governsSilentPushes: Bool { false }

  package func send(_ push: OutgoingPush) async -> PushOutcome {
    await webhook.post(Self.body(of: push), id: push.id)
  }

  /// `{"id","target":{…},"kind","collapseId","expires","push":{the push itself}}`.
  private static func body(of push: OutgoingPush) -> String {
    let quoted = JSONText.quoted
    let target =
      switch push.target {
      case .device(let handle, let platform):
        #"{"platform":\#(quoted(platform)),"handle":\#(quoted(handle))}"#
      case .audience(let expression): #"{"tags":\#(quoted(expression.description))}"#
      }
    let expires = push.expires.map { quoted($0.formatted(.iso8601)) } ?? "null"
    return #"{"id":\#(quoted(push.id)),"target":\#(target),"kind":"\#(push.text.kind.rawValue)","#
      + #""collapseId":\#(push.collapseID.map(quoted) ?? "null"),"expires":\#(expires),"#
      + #""push":\#(push.text.json)}"#
  }
}
