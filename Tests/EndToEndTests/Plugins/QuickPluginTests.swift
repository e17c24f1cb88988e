import Foundation
import RichPushClient
import Testing

/// A resident plugin that answers at once is asked on the thread that serves its caller: nobody else
/// on that thread may feel it.
@Suite(.timeLimit(.minutes(3))) struct QuickPluginTests {
  /// Counts its calls, and hangs when the payload says so.
  private static let plugin = """
    #!/usr/bin/perl
    use FCGI;
    my ($request, $count) = (FCGI::Request(), 0);
    while ($request->Accept() >= 0) {
      my $payload = $ENV{RICH_PAYLOAD};
      sleep 60 if $payload eq 'hangs' && $ENV{QUERY_STRING} eq 'now=1';
      exit 1 if $payload eq 'dies' && $ENV{QUERY_STRING} eq 'now=1';
      $count++;
      my $keeping = $ENV{QUERY_STRING} =~ /now=kept/ ? '' : "Cache-Control: no-store\\n";
      print "Content-Type: text/plain\\n$keeping\\n$payload $count";
    }

    """
  private static func manifest(seconds: Int) -> String {
    """
    {"mode":"fastcgi","query":["now"],"limits":{"seconds":\(seconds)},
     "workers":{"max":1,"requests":100000}}
    """
  }

  @Test func `answers each caller with what it asked for, once`() async throws {
    try await Self.lend { server, connection in
      let ids = try await Self.publish(["a", "b", "c"], on: server)
      var first: Int?
      for turn in 0..<300 {
        connection.ask("GET", "/api/notifications/\(ids[turn % 3])")
        let words = try connection.answer().text.split(separator: " ")
        let count = try #require(words.last.flatMap { Int($0) })
        #expect(words.first == ["a", "b", "c"][turn % 3])
        first = first ?? count
        #expect(count - (first ?? 0) == turn, "one call for each answer")
      }
    }
  }

  @Test func `is asked once for what may be kept`() async throws {
    try await Self.lend { server, connection in
      let id = try await Self.publish(["a"], on: server)[0]
      var answers: Set<String> = []
      for turn in 0..<120 {
        connection.ask("GET", "/api/notifications/\(id)" + (turn < 100 ? "" : "?now=kept"))
        let answer = try connection.answer()
        #expect(answer.status == 200)
        if turn >= 100 { answers.insert(answer.text) }
      }
      #expect(answers.count == 1, "\(answers)")
    }
  }

  @Test func `holds up nobody when it suddenly hangs or dies`() async throws {
    try await Self.lend(seconds: 2) { server, connection in
      let ids = try await Self.publish(["a", "hangs", "dies"], on: server)
      for _ in 0..<100 {
        connection.ask("GET", "/api/notifications/\(ids[0])")
        #expect(try connection.answer().status == 200)
      }
      let bystander = try await Bystander(on: server)
      let before = try bystander.median()
      connection.ask("GET", "/api/notifications/\(ids[1])?now=1")
      let meanwhile = try bystander.median { connection.hasInput }
      let otherwise = max(before, try bystander.median())  // the machine may have other work, too
      #expect(meanwhile < otherwise * 10, "\(meanwhile) instead of \(otherwise)")
      #expect(try connection.answer().status == 504)
      #expect(server.log.contains("plugin: quick, render, notification \(ids[1]): timedOut: "))
      connection.ask("GET", "/api/notifications/\(ids[2])?now=1")
      #expect(try connection.answer().status == 502)
      connection.ask("GET", "/api/notifications/\(ids[0])")
      #expect(try connection.answer().status == 200)
    }
  }

  private static func publish(
    _ payloads: [String], on server: RunningServer
  ) async throws -> [Int] {
    var ids: [Int] = []
    for payload in payloads {
      ids.append(
        try await server.client("alice").create(
          NewNotification("m", richType: "quick", payload: payload, to: .users(["alice"]))
        ).id)
    }
    return ids
  }

  private static func lend(
    seconds: Int = 20, to body: (RunningServer, RawConnection) async throws -> Void
  ) async throws {
    try await RunningServer.lend { scratch in
      try scratch.drop(Array(manifest(seconds: seconds).utf8), as: "plugins/quick/plugin.json")
      try scratch.drop(Array(plugin.utf8), as: "plugins/quick/quick", executable: true)
      try scratch.drop(Array(Bystander.plugin.utf8), as: "plugins/good", executable: true)
    } to: { server in
      try await body(server, try RawConnection(port: server.port))
    }
  }
}
