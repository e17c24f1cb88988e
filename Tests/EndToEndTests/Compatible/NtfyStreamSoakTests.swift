import Foundation
import RichPushClient
import Testing

/// A phone with ntfy's app that stays connected.
@Suite(.timeLimit(.minutes(20)), .enabled(if: Soak.isLong)) struct NtfyStreamSoakTests {
  @Test(arguments: ["stream", "ws"])
  func `it is ten minutes with few messages, and goes on where it was`(action: String) async throws
  {
    try await NtfyPhone.lend { server, place in
      let shop = server.client("shop", password: NtfyPhone.password)
      let phone = try await NtfyPhone(["inbox"], at: place, of: server)
      let service = try phone.open(action, "inbox", "none", "3")
      let clock = ContinuousClock()
      let start = clock.now
      async let sent: Void = {
        for minute in [1, 5, 10] {
          try await clock.sleep(until: start + .seconds(60 * minute))
          _ = try await shop.create(
            NewNotification(NotificationMessage("\(minute)"), to: .users(["alice"])))
        }
      }()
      var (texts, last, longest, alive) = ([String](), start, Duration.zero, 0)
      var id: String?
      for try await line in service.lines {
        let message = try NtfyPhone.message(line)
        longest = max(longest, clock.now - last)
        last = clock.now
        if message.event.text == "keepalive" { alive += 1 }
        if let text = message.message.text { (id, texts) = (message.id.text, texts + [text]) }
      }
      try await sent
      #expect(texts == ["1", "5", "10"])
      #expect(await service.exitCode() == 0)
      if action == "stream" {
        // The app gives up after 77 s of silence.
        #expect(alive >= 10 && longest < .seconds(60), "\(alive), at most \(longest) apart")
      }
      _ = try await shop.create(NewNotification("later", to: .users(["alice"])))
      let resumed = try await phone.ask(action, "inbox", try #require(id), "1")
      #expect(resumed.compactMap(\.message.text) == ["later"])
    }
  }
}
