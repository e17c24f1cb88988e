import Delivery
import Foundation
import HTTP
import Intake
import Media
import PluginHost
import Push
import RichPushAPI
import Store
import TestSupport
import Testing

extension Scratch {
  /// Installs the plugin `note`, which renders the payload with its options as text.
  func installNote(manifest: String = #"{"query":["view"]}"#) throws {
    try installPlugin(
      "note", manifest: manifest,
      #"printf 'Content-Type: text/plain\n\n%s|%s' "$RICH_PAYLOAD" "$QUERY_STRING""#)
  }
}

extension TestServer {
  /// The body of a notification of the rich type `note`.
  static func notification(_ members: String = "", to users: [String] = ["device"]) -> String {
    let tags = users.map { "\"username:\($0)\"" }.joined(separator: ",")
    return #"{"message":"m","richType":"note","payload":"p","to":[\#(tags)]\#(members)}"#
  }

  /// Creates a notification as the publisher, which has to succeed.
  @discardableResult
  func publish(_ members: String = "", to users: [String] = ["device"]) async throws -> TestResponse
  {
    let answer = try await execute(
      "POST", "/api/notifications", as: "publisher", body: Self.notification(members, to: users))
    try #require(answer.status == 201, "\(answer.detail ?? answer.text)")
    return answer
  }

  /// Creates users `reader0` and so on, and a notification of the publisher's for all of them.
  func publish(toReaders count: Int) async throws -> [String] {
    let names = (0..<count).map { "reader\($0)" }
    var new = NotificationInsert(message: "m", richType: "note", payload: "p")
    new.sender = try await id(of: "publisher")
    for name in names {
      try await addUser(name, .device)
      new.recipients.append(try await id(of: name))
    }
    _ = try await store.notifications.create(new)
    return names
  }

  /// Registers a device of a user, and returns its ID.
  func register(_ handle: String, as user: String, platform: String = "apns") async throws -> String
  {
    let answer = try await execute("POST", "/api/register?handle=" + handle, as: user)
    let id = answer.text.trimmingCharacters(in: ["\""])
    let body = #"{"Platform":"\#(platform)","Handle":"\#(handle)","Tags":[]}"#
    let put = try await execute("PUT", "/api/register/" + id, as: user, body: body)
    try #require(put.status == 200, "\(put.detail ?? "")")
    return id
  }

  /// The status that a request gets.
  func status(
    _ method: String, _ target: String, as user: String? = nil, body: String = ""
  ) async throws -> Int {
    try await execute(method, target, as: user, body: body).status
  }
}
