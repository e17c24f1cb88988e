import RichPushAPI
import Testing

@testable import Push

/// What a picture looks like until it is there, in pushes.
@Suite(.timeLimit(.minutes(1))) struct ThumbHashPayloadTests {
  private func push(_ message: NotificationMessage, form: PushForm = .alert) -> PushMessage {
    var push = PushMessage(7, message, richType: "img", form: form)
    push.media = MediaLink(url: "https://push.example/m?s=a", type: "image/png", size: 9)
    (push.page, push.thumbHash) = ("https://a.example/push/#7", "1QcSHQRnh493V4dIh4eXh1h4kJUI")
    return push
  }

  @Test func `the hash gives way before the message`() {
    let room = PushPayload.webLimit - PayloadTemplate.web(push(NotificationMessage(""))).largestSize
    let hash = #","thumbHash":"1QcSHQRnh493V4dIh4eXh1h4kJUI""#.utf8.count
    func template(_ count: Int) -> PayloadTemplate {
      .web(push(NotificationMessage(String(repeating: "x", count: count))))
    }
    #expect(!template(room).isCut && template(room).payload().json.contains("thumbHash"))
    for count in [room + 1, room + hash] {
      #expect(!template(count).isCut && !template(count).payload().json.contains("thumbHash"))
    }
    #expect(template(room + hash + 1).isCut)
  }

  @Test(arguments: PushForm.allCases)
  func `the hash is beside the link to the media`(form: PushForm) {
    let push = push(NotificationMessage("Look"), form: form)
    let hash = #""thumbHash":"1QcSHQRnh493V4dIh4eXh1h4kJUI""#
    let apple = PayloadTemplate.apple(push).payload().json
    #expect(apple.contains(hash) == apple.contains(#""att":"#))
    #expect(PayloadTemplate.web(push).payload().json.contains(hash))
    #expect(PayloadTemplate.firebase(push, as: .data).payload().json.contains(hash))
    #expect(!PayloadTemplate.firebase(push, as: .notification).payload().json.contains(hash))
    var hidden = push
    hidden.message.lockScreen = .private
    for template in [
      PayloadTemplate.apple(hidden), .web(hidden), .firebase(hidden, as: .data),
      .declarative(hidden),
    ] { #expect(!template.payload().json.contains("thumbHash")) }
  }
}
