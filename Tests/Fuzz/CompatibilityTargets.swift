// Compiled into the module Compatibility by compatibility.sh, for libFuzzer.
import FoundationEssentials
import HTTP
import RichPushAPI

let targets: [String: @Sendable ([UInt8]) -> Void] = [
  "foreign": { bytes in
    let text = ForeignText.field(bytes)
    precondition(ForeignText.line(text).allSatisfy { !$0.isNewline })
    precondition(ForeignText.url(text).utf8.allSatisfy { (0x21...0x7E).contains($0) })
    _ = ForeignText.webHost(text)
  },
  "form": { bytes in
    // Up to the first line end, the parameters of the type; then the body.
    let parts = bytes.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
    let type = "multipart/form-data; " + String(decoding: parts[0], as: UTF8.self)
    guard parts.count == 2, let form = try? MultipartForm(Array(parts[1]), type: type) else {
      return
    }
    precondition(form.parts.count <= 64)
    precondition(form.parts.map(\.content.count).reduce(0, +) <= bytes.count)
    _ = try? form.file()
  },
  "subscription": { bytes in
    // Up to the first line end, the query; then field lines.
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    var fields = Fields()
    for line in lines.dropFirst().prefix(3) {
      let pair = line.split(separator: ":", maxSplits: 1)
      if pair.count == 2 { fields.append(String(pair[0]), String(pair[1])) }
    }
    let now = Date(timeIntervalSince1970: 1_000_000_000)
    guard let request = try? Request("GET", "/a/json?" + (lines.first ?? ""), fields: fields),
      let subscription = try? NtfySubscription(request, now: now)
    else { return }
    precondition(subscription.priorities.allSatisfy((1...5).contains))
    if case .event(let sequence) = subscription.since {
      precondition(sequence >= 0 && NtfyID.event(NtfyID.text(ofEvent: sequence)) == sequence)
    }
  },
  "webhook": { bytes in
    // Up to the first line end, the template; then the event.
    let parts = bytes.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let given = JSONValue(parts[0]), let event = JSONValue(parts[1]),
      let template = try? WebhookTemplate(given)
    else { return }
    let fields = ["x-github-event": "push", "x-github-delivery": "a"]
    let action = try? template.action(
      for: WebhookEvent(body: event, fields: fields), to: ["news"], linkSchemes: [])
    guard case .publish(let new)? = action else { return }
    precondition(new.message.text.utf8.count <= 3 * 4096)
    // What an event has is no placeholder of a message.
    precondition(new.message.placeholders.all.isEmpty)
  },
  "ntfy": { bytes in
    // Up to the first line end, the query; up to the next, field lines; then the body.
    let parts = bytes.split(separator: 0x0A, maxSplits: 4, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard parts.count == 5 else { return }
    var fields = Fields()
    for line in parts[1...3] {
      let pair = line.split(separator: ":", maxSplits: 1)
      if pair.count == 2 { fields.append(String(pair[0]), String(pair[1])) }
    }
    guard let request = try? Request("POST", "/a?" + parts[0], fields: fields) else { return }
    let now = Date(timeIntervalSince1970: 1_000_000_000)
    for parameters in [
      try? NtfyParameters(request), try? NtfyParameters(request, Array(parts[4].utf8)),
    ] {
      guard let parameters else { continue }
      if let delay = parameters[.delay], let time = try? NtfyDelay.time(delay, now: now) {
        precondition(time >= now)
      }
      if let actions = parameters[.actions], let read = try? NtfyActions(actions) {
        precondition(read.views.count <= 3 && read.views.allSatisfy { !$0.label.isEmpty })
      }
    }
  },
]
