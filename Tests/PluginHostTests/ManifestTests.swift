import Testing

@testable import PluginHost

@Suite(.timeLimit(.minutes(2))) struct ManifestTests {
  private let maximum = Manifest.Limits(seconds: 30, memoryMiB: 1024, outputMiB: 64)

  @Test func `reads the manifest of the contract`() throws {
    let manifest = try read(
      """
      { "protocol": 1, "name": "sound", "version": "1.2.0", "executable": "sound",
        "mode": "fastcgi", "verbs": ["describe", "validate", "render"],
        "accepts": ["audio/*"], "produces": ["audio/*", "image/png"], "query": ["view", "page=1"],
        "perUser": false, "perNotification": true, "network": false,
        "limits": { "seconds": 10, "memoryMiB": 256, "outputMiB": 20 },
        "workers": { "max": 2, "idleSeconds": 30, "requests": 1000 } }
      """)
    #expect(manifest.mode == .fastcgi)
    #expect(manifest.verbs == [.describe, .validate, .render])
    #expect(manifest.accepts == ["audio/*"])
    #expect(manifest.query == ["view", "page"] && manifest.queryDefaults == ["page": "1"])
    #expect(manifest.limits == Manifest.Limits(seconds: 10, memoryMiB: 256, outputMiB: 20))
    #expect(manifest.workers.max == 2)
  }

  @Test func `is usual where it says nothing`() throws {
    #expect(try read("{}") == Manifest())
    #expect(try read(#"{"limits":{},"workers":{}}"#) == Manifest())
    #expect(try read(#"{"workers":{"min":2,"max":2}}"#).workers.min == 2)
    #expect(
      !(try read(#"{"perUser":true}"#).isShared || read(#"{"perNotification":true}"#).isShared))
  }

  @Test func `grants no more than the operator does`() throws {
    let manifest = try read(#"{"limits":{"seconds":9999,"memoryMiB":9999,"outputMiB":1}}"#)
    #expect(manifest.limits == Manifest.Limits(seconds: 30, memoryMiB: 1024, outputMiB: 1))
  }

  @Test(arguments: [
    ("", "JSON"), ("[]", "\"\""), ("{", "JSON"), (#"{"protocol":2}"#, "\"protocol\" must be 1"),
    (#"{"name":"img"}"#, "\"name\" must be \"sound\""),
    (#"{"executable":"../x"}"#, "\"executable\""), (#"{"executable":"/bin/sh"}"#, "\"executable\""),
    (#"{"mode":"wasm"}"#, "\"mode\" has an unknown value"),
    (#"{"verbs":["dance"]}"#, "unknown value"), (#"{"verbs":"render"}"#, "\"verbs\""),
    (#"{"accepts":["audio"]}"#, "\"audio\""), (#"{"produces":["*/png"]}"#, "\"*/png\""),
    (#"{"limits":{"seconds":0}}"#, "\"limits.seconds\""),
    (#"{"limits":{"minutes":1}}"#, "\"limits.minutes\" is not a member"),
    (#"{"limits":{"seconds":"ten"}}"#, "\"limits.seconds\" must be of the type"),
    (#"{"workers":{"max":0}}"#, "\"workers.max\""), (#"{"colour":"red"}"#, "\"colour\""),
    (#"{"workers":{"min":3,"max":2}}"#, "\"workers.min\""),
    (#"{"query":["a b"]}"#, "\"query\""), (#"{"query":["=1"]}"#, "\"query\""),
    (#"{"network":"yes"}"#, "\"network\""), (#"{"executable":""}"#, "\"executable\""),
    (#"{"programs":["ok","../x"]}"#, "\"programs\""), (#"{"programs":"x"}"#, "\"programs\""),
    (#"{"executable":".hidden"}"#, "\"executable\""), (#"{"query":[""]}"#, "\"query\""),
    (#"{"limits":{"memoryMiB":-1}}"#, "\"limits.memoryMiB\""),
    (#"{"limits":{"outputMiB":0}}"#, "\"limits.outputMiB\""),
    (#"{"workers":{"idleSeconds":0}}"#, "\"workers.idleSeconds\""),
    (#"{"workers":{"requests":0}}"#, "\"workers.requests\""),
    (#"{"workers":{"min":-1}}"#, "\"workers.min\""),
    (#"{"workers":{"most":1}}"#, "\"workers.most\" is not a member"),
    (#"{"protocol":null,"version":7}"#, "\"version\" must be of the type"),
  ])
  func `refuses what it does not understand and names it`(json: String, reason: String) {
    #expect {
      try read(json)
    } throws: { error in
      (error as? PluginProblem)?.description.contains(reason) == true
    }
  }

  @discardableResult
  private func read(_ json: String) throws -> Manifest {
    try Manifest(json: Array(json.utf8), name: "sound", maximum: maximum)
  }
}
