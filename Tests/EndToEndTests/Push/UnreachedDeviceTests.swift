import Foundation
import RichPushClient
import Testing

/// Devices of platforms that no push service of the server sends to.
@Suite(.timeLimit(.minutes(5))) struct UnreachedDeviceTests {
  @Test func `are taken, and everybody who asks is told that nothing comes`() async throws {
    try await RunningServer.lend { server in
      let empty = try put("gcm", "tutorial", accept: "*/*", on: server)
      #expect(empty.status == 200 && empty.body.isEmpty && empty.fields["content-type"] == nil)
      let json = try put("gcm", "android", accept: "text/html, Application/JSON; q=0.9", on: server)
      let told = try JSONDecoder().decode(JSONValue.self, from: Data(json.body))
      #expect(json.status == 200 && told.deliverable == .bool(false) && told.service == .null)
      #expect(told.reason.text?.contains("(embedded) do not send to gcm.") == true)
      let apple = try put("apns", "AB12", accept: "application/json", on: server)
      let good = try JSONDecoder().decode(JSONValue.self, from: Data(apple.body))
      #expect(good.deliverable == .bool(true) && good.service.text == "embedded")

      // A typing error is no device without tags; the tutorial's client is not held up by its own.
      let typo = Array(#"{"Platform":"apns","handle":"AB12","Tag":["news"]}"#.utf8)
      let refused = try put(typo, as: "AB12", accept: "application/json", on: server)
      #expect(refused.status == 400 && refused.text.contains(#""code":"unknown-field""#))
      #expect(refused.text.contains("Unknown field “Tag”. Did you mean “Tags”?"), "\(refused.text)")
      #expect(try put(typo, as: "AB12", accept: "*/*", on: server).status == 200)

      let created = try await server.client("shop").create(.logo(to: "alice"))
      #expect(created.reach?.devices == 3 && created.reach?.devicesWithoutLane == 2)
      let notify = try await Child.run(
        "richpush", ["notify", "--to", "alice", "--payload", "logo.png", "Look"],
        environment: ["RICHPUSH_SERVER": server.endpoint.absoluteString])
      #expect(notify.output.first?.contains("3 devices, 2 of them without a push service") == true)

      let gauge = "richpush_devices_without_lane"
      #expect(try server.measured(gauge + #"{platform="gcm"}"#) == 2)
      #expect(try server.measured(gauge + #"{platform="wns"}"#) == 0)
      #expect(try !server.get("/metrics").text.contains(gauge + #"{platform="apns"}"#))
      let lines = server.log.split(separator: "\n").filter { $0.contains("has registered for") }
      #expect(lines.count == 1 && lines.first?.contains("gcm") == true, "\(lines)")

      let data = server.scratch.folder.path + "/var"
      let check = try await Child.run("richpush", ["push", "check", "--data", data])
      #expect(check.exitCode == 0, "\(check.errors)")
      #expect(
        check.output.last?.hasPrefix("note devices: 2 devices are registered for gcm. ") == true,
        "\(check.output)")
    }
  }

  @Test func `are not looked for where there is no store, and none is made`() async throws {
    let scratch = try Scratch()
    let check = try await Child.run(
      "richpush", ["push", "check", "--data", scratch.folder.path + "/var"])
    #expect(check.exitCode == 0 && check.output.count == 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path).isEmpty)
  }

  private func put(
    _ platform: String, _ handle: String, accept: String, on server: RunningServer
  ) throws -> RawConnection.Answer {
    let body = Array(#"{"Platform":"\#(platform)","Handle":"\#(handle)","Tags":[]}"#.utf8)
    return try put(body, as: handle, accept: accept, on: server)
  }

  private func put(
    _ body: [UInt8], as handle: String, accept: String, on server: RunningServer
  ) throws -> RawConnection.Answer {
    try RawConnection(port: server.port).exchange(
      "PUT /api/register/\(handle) HTTP/1.1\r\nAccept: \(accept)\r\nContent-Length: \(body.count)\r\n"
        + RunningServer.credentials("alice") + "\r\n", body: body)
  }
}
