import Foundation
import StandIns
import Testing

@testable import PluginHost

/// Programs that were written for other servers, and run here as they are.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ExistingProgramTests {
  private let fixture: PluginFixture

  init() throws { fixture = try PluginFixture() }

  /// A request with a body, which is where the libraries' ways part.
  private func call(_ name: String, body: String = "a=1&b=two") -> PluginCall {
    PluginCall(
      verb: .validate, richType: name, id: "7", payload: body, query: [("width", "320")],
      body: Array(body.utf8))
  }

  private static let manifest = #"{"verbs":["validate","render"]}"#
  private static let resident = #"{"verbs":["validate","render"],"mode":"fastcgi"}"#

  private func install(_ name: String, _ manifest: String, _ script: String) throws {
    try fixture.write("plugins/\(name)/plugin.json", manifest, mode: 0o644)
    try fixture.write("plugins/\(name)/\(name)", script)
  }

  @Test func `runs a POSIX shell script that reads its input`() async throws {
    try install(
      "shell", Self.manifest,
      """
      #!/bin/sh
      body=$(dd bs=1 count="$CONTENT_LENGTH" 2>/dev/null)
      printf 'Content-Type: application/json\\r\\n\\r\\n["%s","%s"]' "$REQUEST_METHOD" "$body"
      """)
    #expect(try await fixture.text(call("shell")) == #"["POST","a=1&b=two"]"#)
  }

  @Test func `runs wsgiref's CGIHandler`() async throws {
    try install(
      "wsgi", Self.manifest,
      """
      #!/usr/bin/python3
      from wsgiref.handlers import CGIHandler
      from wsgiref.validate import validator

      @validator
      def application(environ, start_response):
          body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
          start_response("200 OK", [("Content-Type", "application/json")])
          return [b'["', environ["QUERY_STRING"].encode(), b'","', body, b'"]']

      CGIHandler().run(application)
      """)
    #expect(try await fixture.text(call("wsgi")) == #"["width=320","a=1&b=two"]"#)
  }

  @Test func `runs Perl's CGI module`() async throws {
    try install(
      "cgipm", Self.manifest,
      """
      #!/usr/bin/perl
      use CGI; my $q = CGI->new;
      print $q->header(-type => 'application/json', -status => '200 OK', -charset => 'utf-8');
      print '["', $q->request_method, '","', $q->param('POSTDATA') // 'none', '","', $q->url_param('width'), '"]';
      """)
    #expect(try await fixture.text(call("cgipm")) == #"["POST","a=1&b=two","320"]"#)
  }

  @Test(arguments: [(mode: manifest, isResident: false), (mode: resident, isResident: true)])
  func `runs php-cgi`(mode: String, isResident: Bool) async throws {
    try install(
      "php", mode,
      """
      #!/usr/bin/php-cgi
      <?php header('Content-Type: application/json');
      echo json_encode([$_SERVER['REQUEST_METHOD'], $_GET['width'], file_get_contents('php://input')]);
      if (isset($_SERVER['PATH_TRANSLATED'])) error_log('translated');
      """)
    for _ in 0..<3 {
      #expect(try await fixture.text(call("php")) == #"["POST","320","a=1&b=two"]"#)
    }
    let processes = try #require(fixture.host.status().first { $0.plugin.richType == "php" })
    #expect(processes.processes.idle == 1)
    #expect(fixture.log.isEmpty)
  }

  @Test func `runs Perl's FCGI module over one connection`() async throws {
    try install(
      "fcgi", Self.resident,
      """
      #!/usr/bin/perl
      use FCGI; my $n = 0; my $r = FCGI::Request();
      while ($r->Accept() >= 0) {
        $n++; read(STDIN, my $body, $ENV{CONTENT_LENGTH} // 0);
        print "Content-Type: application/json\\r\\n\\r\\n[\\"$ENV{RICH_TYPE}\\",\\"$body\\",$n]";
      }
      """)
    for count in 1...3 {
      #expect(try await fixture.text(call("fcgi")) == #"["fcgi","a=1&b=two",\#(count)]"#)
    }
  }

  @Test func `runs a C program on libfcgi over one connection`() async throws {
    let source = try fixture.write(
      "counter.c",
      """
      #include <fcgi_stdio.h>
      #include <stdlib.h>
      int main(void) {
        for (int count = 1; FCGI_Accept() >= 0; count++) {
          char body[65] = "";
          size_t size = fread(body, 1, sizeof body - 1, stdin);
          fprintf(stderr, "heard %d\\n", (int)size);
          printf("Content-Type: application/json\\r\\n\\r\\n[\\"%s\\",\\"%s\\",%d]", getenv("RICH_TYPE"), body, count);
        }
      }
      """, mode: 0o644)
    try fixture.write("plugins/counter/plugin.json", Self.resident, mode: 0o644)
    let compiler = try StartedProgram(
      "/usr/bin/cc", ["-o", "\(fixture.folder)/plugins/counter/counter", source, "-lfcgi"])
    try #require(await compiler.exitCode() == 0)
    for count in 1...3 {
      #expect(try await fixture.text(call("counter")) == #"["counter","a=1&b=two",\#(count)]"#)
    }
    #expect(fixture.log.contains("notification 7 says: heard 9"))
  }
}
