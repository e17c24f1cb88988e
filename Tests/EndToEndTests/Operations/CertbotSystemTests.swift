import Foundation
import StandIns
import Testing

/// Debian's certbot as `docs/OPERATIONS.md` has it, with a certificate authority of the test's own.
@Suite(
  .enabled(
    if: FileManager.default.isExecutableFile(atPath: "/usr/bin/certbot"),
    "needs the package certbot"), .timeLimit(.minutes(3)))
struct CertbotSystemTests {
  /// Connects all the time, and keeps a connection, while a program runs; prints the certificates seen and what failed.
  private static let load = """
    import json, socket, ssl, subprocess, sys, threading, time
    port, authority, program = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    shown, failures, count, over = [], [], [0], threading.Event()
    context = ssl.create_default_context(cafile=authority)
    def connect():
        plain = socket.create_connection(("127.0.0.1", port), timeout=30)
        return context.wrap_socket(plain, server_hostname="push.example")
    def ask(connection):
        connection.sendall(b"GET /healthz HTTP/1.1\\r\\nHost: push.example\\r\\n\\r\\n")
        answer = connection.recv(1000)
        if not answer.startswith(b"HTTP/1.1 200 "): failures.append(str(answer))
        count[0] += 1
    def load(keeps):
        kept = connect() if keeps else None
        while not over.is_set():
            try:
                if kept:
                    ask(kept)
                    time.sleep(0.01)
                    continue
                with connect() as connection:
                    ask(connection)
                    serial = connection.getpeercert()["serialNumber"]
                    if serial not in shown: shown.append(serial)
            except OSError as error:
                failures.append(repr(error))
    threads = [threading.Thread(target=load, args=(keeps,)) for keeps in (True, False, False)]
    for thread in threads: thread.start()
    def until(condition):
        deadline = time.monotonic() + 60
        while not condition() and time.monotonic() < deadline: time.sleep(0.01)
    until(lambda: shown)
    ended = subprocess.run(program, capture_output=True, text=True)
    until(lambda: len(shown) > 1)
    before = count[0]
    until(lambda: count[0] > before + 50)
    over.set()
    for thread in threads: thread.join()
    output = "" if ended.returncode == 0 else ended.stdout + ended.stderr
    print(json.dumps({"shown": shown, "failures": failures[:3], "output": output}))
    """

  private struct Seen: Decodable {
    let shown: [String]
    let failures: [String]
    let output: String
  }

  @Test func `what it renews is served at once, and no connection is dropped`() async throws {
    let (authority, scratch) = (try StandIn("acme"), try Scratch())
    let folder = scratch.folder.path
    #expect(chmod(folder, 0o755) == 0)
    // The words of the document, with folders of the test's own.
    let document = String(decoding: try Package.bytes("docs/OPERATIONS.md"), as: UTF8.self)
    let line = try #require(document.firstMatch(of: #/\n(certbot certonly .*)\n/#)?.1)
    let hook = Package.root.appending(path: "packaging/debian/certbot-hook").path
    let recipe = line.split(separator: " ").map(String.init).map {
      $0 == "/usr/share/richpush/certbot-hook" ? hook : $0
    }
    #expect(recipe.contains(hook) && recipe.contains("push.example"), "\(recipe)")
    let own = [
      "--non-interactive", "--config-dir", folder + "/etc", "--work-dir", folder + "/work",
      "--logs-dir", folder + "/logs",
    ]
    let group = String(cString: try #require(getgrgid(getegid())).pointee.gr_name)
    let environment = [
      "RICHPUSH_TLS_FOLDER": folder + "/tls", "RICHPUSH_GROUP": group, "PATH": "/usr/bin:/bin",
    ]
    let first = try await Child.run(
      "/usr/bin/certbot",
      Array(recipe.dropFirst()) + own + ["--register-unsafely-without-email", "--agree-tos"]
        + ["--server", "http://127.0.0.1:\(authority.port)/directory"], environment: environment)
    #expect(first.exitCode == 0, "\(first)")

    let installed = folder + "/tls/push.example"
    try await RunningServer.lend(
      flags: ["--demo", "--public-url", "https://push.example"]
        + ["--tls-certificate", installed + "/fullchain.pem"]
        + ["--tls-key", installed + "/privkey.pem"]
    ) { server in
      // As its timer does it, but not only when 30 days are left.
      let renewal = ["/usr/bin/certbot", "renew", "--force-renewal", "--no-random-sleep-on-renew"]
      let result = try await Child.run(
        "/usr/bin/python3",
        ["-c", Self.load, "\(server.port)", authority.certificates] + renewal + own,
        environment: environment)
      let line = try #require(result.output.last, "\(result)")
      let seen = try JSONDecoder().decode(Seen.self, from: Data(line.utf8))
      #expect(seen.output.isEmpty, "\(seen)")
      #expect(seen.shown.count == 2 && seen.failures.isEmpty, "\(seen) \(server.log)")
      #expect(!server.log.contains("in use stays"), "\(server.log)")
    }
  }
}
