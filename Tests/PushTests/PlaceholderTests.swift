import Testing

@testable import Push

@Suite(.timeLimit(.minutes(1))) struct PlaceholderTests {
  private let token = "00000000-0000-4000-8000-000000000007"

  @Test func `an address in a push ends in its job, and a message cannot look like it`() {
    let url = "https://push.example/media/7/ios?expires=9&signature=x"
    let media = MediaLink(url: url + PushPayload.jobPlaceholder, type: "image/png", size: 9)
    let push = AnnouncementForm.alert.text(
      of: AnnouncementContent(
        id: 7, message: PushPayload.jobPlaceholder, richType: "img", media: media))
    let text = PushPayload.insertingJob(push.json, to: 12, token)
    #expect(text.contains(#""url":"\#(url)&to=12.\#(token)","#))
    #expect(text.contains(#""body":"\#(PushPayload.jobPlaceholder)""#))
    #expect(text.utf8.count < push.json.utf8.count)
  }

  @Test func `a push without an address is left as it is`() {
    let push = AnnouncementForm.silent.text(
      of: AnnouncementContent(id: 7, message: "m", richType: "img"))
    #expect(PushPayload.insertingJob(push.json, to: 12, token) == push.json)
  }

  @Test(arguments: [(0, "0"), (7, "7"), (999_999, "999999"), (1_000_000, "999999")])
  func `a badge has the unread count, which is never longer than its placeholder`(
    unread: Int, shown: String
  ) async {
    let push = AnnouncementForm.alert.text(
      of: AnnouncementContent(id: 7, message: "m", richType: "img", countsUnread: true))
    let text = await PushPayload.insertingBadge(push.json) { unread }
    #expect(text.contains(#""badge":\#(shown)}"#), "\(text)")
  }

  @Test func `an address is taken apart at its very end only`() throws {
    let whole = try #require(
      PushPayload.splittingJob("/media/7/ios?expires=9&signature=x&to=12.\(token)"))
    #expect(whole == ("/media/7/ios?expires=9&signature=x", 12, token))
    for address in [
      "", "/media/7/ios?expires=9", "/media/7/ios?to=12.a", "/a?b&to=", "/a?b&to=12", "/a?b&to=x.y",
      "/a?b&to=1.2.3", "/media/7/ios?expires=9&to=12.a&signature=x",
    ] {
      #expect(PushPayload.splittingJob(address) == nil, "\(address)")
    }
  }
}
