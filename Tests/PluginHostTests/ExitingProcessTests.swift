import Testing

@testable import PluginHost

/// Processes and threads that exit while what they use is counted.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ExitingProcessTests {
  @Test func `a plugin whose processes and threads keep exiting is not ended for that`()
    async throws
  {
    let fixture = try PluginFixture()
    try fixture.script(
      "exits", manifest: #"{"limits":{"seconds":60}}"#,
      """
      for i in 1 2 3 4 5 6 7 8; do
        perl -e 'my $x = "x" x 100_000_000' & perl -e 'my $x = "x" x 50_000_000; fork'; wait
      done
      for i in $(seq 100); do /bin/true | /bin/true; done
      perl -Mthreads -e 'for (1 .. 30) {
        $_->join for map { threads->create(sub { my $x = "x" x 5_000_000; 1 }) } 1 .. 8 }'
      echo 'Content-Type: text/plain'; echo; echo done
      """)
    do { #expect(try await fixture.text("exits") == "done\n") } catch {
      Issue.record("\(error): \(fixture.log)")
    }
  }
}
