import RichPushClient
import Testing

/// What a push says, whatever its form and platform.
@Suite struct PushTests {
  private static func push(_ text: String) -> PushEvent.Push {
    PushEvent(id: "1", text: text).push
  }

  private static let carried = #"""
    "link":"https://a.example","actions":[{"id":"a","label":"A"},{"id":"b","label":"B","dismiss":true}],\#
    "data":{"order":7},"lockScreen":"public","att":{"url":"u","type":"image/png","size":1,"alt":"alt"}
    """#

  private static func expectCarried(_ message: NotificationMessage) {
    #expect(message.link == "https://a.example" && message.alt == "alt")
    #expect(message.actions?.map(\.label) == ["A", "B"] && message.actions?.last?.dismiss == true)
    #expect(message.data == .object(["order": .number(7)]) && message.lockScreen == .public)
  }

  @Test func `a silent push has its texts beside the ID`() {
    let push = Self.push(
      #"{"aps":{"content-available":1},"richId":"7","richTitle":"T","richSubtitle":"S","richMessage":"m",\#(Self.carried)}"#
    )
    #expect(push.id == 7 && push.hasTexts && push.richType == nil)
    #expect(push.message.title == "T" && push.message.subtitle == "S" && push.message.text == "m")
    Self.expectCarried(push.message)
  }

  @Test func `an alert has them where the device shows them`() {
    let push = Self.push(
      #"""
      {"aps":{"alert":{"title":"T","subtitle":"S","body":"m"},"mutable-content":1,"sound":"chime.caf",
      "category":"ORDER","thread-id":"orders","interruption-level":"time-sensitive","relevance-score":0.5},
      "richId":"7","richType":"img",\#(Self.carried)}
      """#)
    #expect(push.id == 7 && push.hasTexts && push.richType == "img")
    #expect(push.message.title == "T" && push.message.subtitle == "S" && push.message.text == "m")
    #expect(push.message.sound == .named("chime.caf") && push.message.category == "ORDER")
    #expect(push.message.thread == "orders" && push.message.relevance == 0.5)
    #expect(push.message.importance == .high)
    Self.expectCarried(push.message)
  }

  @Test func `a browser's push has all in the names of the API`() {
    let push = Self.push(
      #"""
      {"richId":"7","richTitle":"T","richSubtitle":"S","richMessage":"m","sound":"none","importance":"min",
      "thread":"orders","icon":"https://a.example/i.png","colour":"#00aa77","replaces":"r",\#(Self.carried)}
      """#)
    #expect(push.message.title == "T" && push.message.subtitle == "S" && push.message.text == "m")
    #expect(push.message.sound == .silent && push.message.importance == .min)
    #expect(push.message.thread == "orders" && push.message.replaces == "r")
    #expect(push.message.icon == "https://a.example/i.png" && push.message.colour == "#00aa77")
    Self.expectCarried(push.message)
  }

  @Test func `a private alert has no texts, a hybrid one has them for the app`() {
    let alert = #""aps":{"alert":{"body":"New notification"}},"richId":"7","lockScreen":"private""#
    #expect(Self.push("{\(alert)}").hasTexts == false)
    #expect(Self.push("{\(alert)}").message.text == "")
    let hybrid = Self.push(#"{\#(alert),"richTitle":"T","richMessage":"m"}"#)
    #expect(hybrid.hasTexts && hybrid.message.title == "T" && hybrid.message.text == "m")
    // A Web Push service that takes no long text gets the ID only.
    #expect(Self.push(#"{"richId":"7"}"#).hasTexts == false)
  }

  @Test func `a text without a notification is an alert`() {
    let push = Self.push(#"{"aps":{"alert":"From bob: hi"}}"#)
    #expect(push.id == nil && push.ids == [] && push.hasTexts)
    #expect(push.message == "From bob: hi")
  }

  @Test(arguments: [
    (#""default""#, MessageSound.default), (#""none""#, .silent), (#""a.caf""#, .named("a.caf")),
    (#"{"critical":1,"name":"default","volume":0.25}"#, .critical(volume: 0.25)),
  ])
  func `a sound is read as Apple writes it`(json: String, sound: MessageSound) {
    #expect(Self.push(#"{"aps":{"sound":\#(json)}}"#).message.sound == sound)
  }

  @Test(
    arguments: [
      ("passive", .low), ("active", .normal), ("time-sensitive", .high), ("critical", .high),
      ("odd", nil),
    ] as [(String, NotificationMessage.Importance?)])
  func `an interruption level is an importance`(
    level: String, importance: NotificationMessage.Importance?
  ) {
    let push = Self.push(#"{"aps":{"interruption-level":"\#(level)"}}"#)
    #expect(push.message.importance == importance)
  }

  @Test(arguments: [
    "", "[]", "7", #"{"aps":7,"richId":[],"richMessage":7}"#,
    #"{"aps":{"alert":7,"sound":[],"thread-id":{}},"actions":{},"importance":"loud","link":1}"#,
    #"{"actions":[7,{"id":"a"}],"richIds":["x",null,{}],"data":null,"att":"x","lockScreen":"?"}"#,
  ])
  func `what is no push of richpush's says nothing, and harms nothing`(text: String) {
    let push = Self.push(text)
    #expect(push.id == nil && push.ids == [])
    #expect(push.message.text == "" && push.message.actions?.isEmpty ?? true)
  }
}
