import Foundation
import RichPushAPI
import Testing

@testable import Push

/// What is said about each service's members is true of its payloads.
@Suite(.timeLimit(.minutes(1))) struct MessageMembersTests {
  /// A message that has every member.
  static let whole = {
    var message = NotificationMessage("Your parcel is at the door.")
    (message.title, message.subtitle) = ("Parcel", "Order 4711")
    (message.alt, message.link) = ("A parcel on a doormat", "https://shop.example/orders/4711")
    var (reply, later) = (
      MessageAction("reply", label: "Reply"), MessageAction("later", label: "Later")
    )
    (reply.input, later.dismiss) = ("Your message", true)
    message.actions = [reply, later]
    (message.sound, message.importance) = (.named("chime.caf"), .low)
    (message.relevance, message.thread) = (0.5, "orders")
    (message.category, message.replaces) = ("ORDER", "order-4711")
    (message.lockScreen, message.icon) = (.private, "https://shop.example/i.png")
    (message.colour, message.channel) = ("#00aa77", "orders")
    (message.data, message.label) = (.object(["order": .string("4711")]), "orders")
    message.apns = .object(["aps": .object(["filter-criteria": .string("work")])])
    message.fcm = .object(["android": .object(["directBootOk": .bool(true)])])
    message.webpush = .object(["own": .number(1)])
    return message
  }()

  private func without(_ member: MessageMember) throws -> NotificationMessage {
    var members = try #require(JSONValue(JSONCoding.encode(Self.whole))?.members)
    members[member.stringValue] = nil
    return try JSONCoding.decode(from: JSONCoding.encode(members))
  }

  /// Everything that a service sends of a message: the payload and what goes into header fields.
  private func sent(
    _ message: NotificationMessage, in form: PushForm,
    by payload: (PushMessage) -> PayloadTemplate
  ) -> [String] {
    var push = PushMessage(7, message, richType: "img", form: form)
    push.media = MediaLink(url: "https://a.example/m", type: "image/png", size: 9)
    push.collapseID = message.replaces.map { "replaces-\($0)" } ?? "rich-7"
    let text = payload(push).payload()
    let outgoing = OutgoingPush(
      id: "1", target: .device(handle: "AB", platform: "apns"), message: push, text: text)
    return [text.json, outgoing.applePriority]
  }

  @Test(arguments: PushForm.allCases, MessageMember.allCases)
  func `a member that is dropped changes nothing, and any other does`(
    form: PushForm, member: MessageMember
  ) throws {
    let less = try without(member)
    // What is hidden on a locked screen is not in the payload, and what replaces is also a collapse ID.
    let isElsewhere = [.text, .title, .subtitle, .replaces].contains(member)
    for service in PushServices.all
    where form != .legacy || service.format == .apple {
      let members = service.format.members(in: form)
      let isSent = members.shown.contains(member) || members.carried.contains(member)
      let differs =
        sent(Self.whole, in: form, by: service.payload) != sent(less, in: form, by: service.payload)
      #expect(isSent || !differs, "\(service.name) \(member.stringValue)")
      #expect(!isSent || differs || isElsewhere, "\(service.name) \(member.stringValue)")
      #expect(members.shown.isDisjoint(with: members.carried))
    }
  }

  @Test func `an iPhone shows what its system knows, and its extension gets the rest`() throws {
    var message = Self.whole
    (message.lockScreen, message.category, message.apns) = (nil, nil, nil)
    let push = PushMessage(7, message, richType: nil, form: .alert)
    let json = PayloadTemplate.apple(push).payload().json
    let category = try #require(json.firstMatch(of: /"category":"(richpush-[A-Za-z0-9_-]{16})"/)).1
    #expect(
      json == #"{"aps":{"alert":{"title":"Parcel","subtitle":"Order 4711","body":"#
        + #""Your parcel is at the door."},"mutable-content":1,"sound":"chime.caf","#
        + #""category":"\#(category)","thread-id":"orders","interruption-level":"passive","#
        + #""relevance-score":0.5},"richId":"7","link":"https://shop.example/orders/4711","#
        + #""actions":[{"id":"reply","input":"Your message","label":"Reply"},"#
        + #"{"dismiss":true,"id":"later","label":"Later"}],"replaces":"order-4711","#
        + #""data":{"order":"4711"}}"#)
  }

  @Test func `what is not for everybody's eyes is not in Apple's payload`() {
    let push = PushMessage(7, Self.whole, richType: nil, form: .alert)
    let json = PayloadTemplate.apple(push).payload().json
    #expect(json.contains(#""alert":{"body":"New notification"}"#))
    for text in ["parcel is", "Parcel", "4711\"}"] where text != "4711\"}" {
      #expect(!json.contains(text))
    }
  }
}
