import Foundation
import PluginHost
import Testing

/// Our plugins inside the real host: launched, fenced in and kept resident as their manifests ask.
@Suite struct HostedPluginTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "hosted-\(UUID())")

  @Test func `visits a page once for a whole publication`() async throws {
    let site = try LocalSite { visitor in
      visitor.send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>Tea</title>")
    }
    let manifest = #"""
      {"mode": "fastcgi", "verbs": ["validate", "render"], "query": ["view"], "network": true,
       "workers": {"max": 1}}
      """#
    let settings = #"{"reach": ["localhost:\#(site.port)"]}"#
    let host = try host(
      "url", files: ["plugin.json": manifest, "settings.json": settings], network: ["url"])
    defer { try? FileManager.default.removeItem(at: folder) }
    for profile in [nil, "ios", "android", "watch", "web", "thumb"] {
      let reply = try await host.respond(
        to: PluginCall(
          verb: .render, richType: "url", payload: "http://localhost:\(site.port)/",
          options: PluginOptions(profile: profile)))
      #expect(try text(reply).contains(#""title":"Tea""#))
      #expect(reply.isStorable)
    }
    #expect(site.visited == ["/"])
  }

  @Test func `stays at home unless the operator grants the network by name`() async throws {
    let site = try LocalSite { visitor in visitor.send("HTTP/1.1 204 No Content\r\n\r\n") }
    let manifest = #"{"mode": "fastcgi", "verbs": ["validate", "render"], "network": true}"#
    let settings = #"{"reach": ["\#(site.address)"]}"#
    let host = try host("url", files: ["plugin.json": manifest, "settings.json": settings])
    defer { try? FileManager.default.removeItem(at: folder) }
    let reply = try await host.respond(
      to: PluginCall(verb: .validate, richType: "url", payload: "http://\(site.address)/"))
    #expect(try !text(reply).contains("could not be read"))
    #expect(site.visited.isEmpty)
  }

  @Test func `keeps calls apart in one resident worker`() async throws {
    let manifest = try String(
      contentsOf: PluginRun.repository.appending(path: "plugins/url/plugin.json"), encoding: .utf8)
    let host = try host("url", files: ["plugin.json": manifest])
    defer { try? FileManager.default.removeItem(at: folder) }
    await withTaskGroup { group in
      for index in 0..<60 {
        group.addTask {
          let call = PluginCall(
            verb: .render, richType: "url", payload: "https://host\(index).example/")
          let reply = try? await host.respond(to: call)
          return reply.flatMap { try? text($0) }?.contains(#""host":"host\#(index).example""#)
        }
      }
      for await isRight in group { #expect(isRight == true) }
    }
  }

  @Test func `sends a sound's own bytes and its waveform`() async throws {
    let manifest = try String(
      contentsOf: PluginRun.repository.appending(path: "plugins/sound/plugin.json"),
      encoding: .utf8)
    let host = try host("sound", files: ["plugin.json": manifest])
    defer { try? FileManager.default.removeItem(at: folder) }
    let chime = PluginRun.repository.appending(path: "assets/sound/chime.wav").path
    let asset = PluginCall.Asset(path: chime, type: "audio/wav", sha256: "", size: 141_164)
    let original = try await host.respond(
      to: PluginCall(verb: .render, richType: "sound", payload: "chime.wav", asset: asset))
    guard case .asset = original.body else {
      Issue.record("the original was copied")
      return
    }
    let picture = try await host.respond(
      to: PluginCall(
        verb: .render, richType: "sound", payload: "chime.wav", asset: asset,
        query: [("view", "waveform")]))
    #expect(picture.contentType == "image/png")
    let facts = try await host.respond(
      to: PluginCall(verb: .validate, richType: "sound", payload: "chime.wav", asset: asset))
    #expect(try text(facts).contains(#""duration":1.6"#))
  }

  private func host(_ name: String, files: [String: String], network: Set<String> = []) throws
    -> PluginHost
  {
    let plugin = folder.appending(path: "plugins/\(name)")
    let scratch = folder.appending(path: "tmp")
    for url in [plugin, scratch] {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }
    for (file, text) in files { try Data(text.utf8).write(to: plugin.appending(path: file)) }
    var configuration = PluginConfiguration(
      folder: folder.appending(path: "plugins").path, executables: PluginRun.programs.path,
      launcher: PluginRun.programs.appending(path: "richpush-exec").path,
      temporaryFolder: scratch.path)
    configuration.network = network
    configuration.queueTimeout = .seconds(60)
    configuration.readablePaths = [PluginRun.repository.appending(path: "assets").path]
    return try PluginHost(configuration: configuration)
  }

  private func text(_ reply: PluginReply) throws -> String {
    switch reply.body {
    case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
    case .file(let file): try String(contentsOfFile: file.path, encoding: .utf8)
    case .asset: "(asset)"
    }
  }
}
