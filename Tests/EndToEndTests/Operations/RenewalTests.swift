import Foundation
import StandIns
import Testing
import Waiting

/// Certificates that are renewed while the server runs, without a signal.
@Suite(.timeLimit(.minutes(3))) struct RenewalTests {
  private static let isRoot = getuid() == 0
  private let scratch: Scratch
  private var folder: String { scratch.folder.path }

  init() throws { scratch = try Scratch() }

  /// A server with these certificates, and its address by a name that they are for.
  private func start(
    _ pairs: [(certificate: String, key: String)], flags: [String] = [],
    through wrapper: [String] = []
  ) async throws -> (server: Child, address: String) {
    let words =
      wrapper + [try Package.program("richpush").path]
      + ["serve", "--demo", "--listen", "127.0.0.1:0", "--data", folder + "/var"]
      + ["--assets", folder + "/assets", "--plugins", folder + "/plugins"]
      + pairs.flatMap { ["--tls-certificate", $0.certificate, "--tls-key", $0.key] } + flags
    let server = try Child(words[0], Array(words.dropFirst()))
    var lines = server.lines.makeAsyncIterator()
    let line = await lines.next() ?? ""
    let address = String(try #require(line.split(separator: " ").last, "\(server.errors)"))
    try #require(address.hasPrefix("https://"), "\(line)")
    return (server, address.replacing("127.0.0.1", with: "localhost"))
  }

  private func end(_ server: Child) async {
    server.send(SIGTERM)
    #expect(await server.exitCode() == 0, "\(server.errors)")
  }

  /// Whether the server has this certificate, for clients that want one with such a key.
  private func shows(
    _ certificate: TemporaryCertificate, _ address: String, isRSA: Bool = false
  ) async throws -> Bool {
    let kind = isRSA ? "RSA" : "ECDSA"
    let answer = try await Child.run(
      "/usr/bin/curl",
      ["-s", "--cacert", certificate.path, "--tls-max", "1.2"]
        + ["--ciphers", "ECDHE-\(kind)-AES128-GCM-SHA256", address + "/healthz"])
    return answer.output == ["ok"]
  }

  private func copy(_ certificate: TemporaryCertificate, to name: String) throws {
    for (from, to) in [(certificate.path, name + ".pem"), (certificate.key, name + ".key")] {
      let place = folder + "/" + to
      try scratch.drop([UInt8](Data(contentsOf: URL(filePath: from))), as: to + ".new")
      #expect(chmod(place + ".new", 0o600) == 0 && rename(place + ".new", place) == 0)
    }
  }

  @Test func `each kind of client gets its certificate, and each is renewed by itself`()
    async throws
  {
    let (first, second, other) = try await (
      TemporaryCertificate(days: -1...365), TemporaryCertificate(days: -1...365),
      TemporaryCertificate(days: -1...365, key: "rsa")
    )
    try copy(first, to: "ecdsa")
    try copy(other, to: "rsa")
    let pairs = ["ecdsa", "rsa"].map {
      (certificate: "\(folder)/\($0).pem", key: "\(folder)/\($0).key")
    }
    let (server, address) = try await start(pairs)
    #expect(try await shows(first, address))
    #expect(try await shows(other, address, isRSA: true))
    #expect(!server.errors.contains("ECDSA"), "\(server.errors)")
    try copy(second, to: "ecdsa")
    try await eventually("the new one is shown") { try await shows(second, address) }
    #expect(try await shows(other, address, isRSA: true))
    // A key of another certificate, as while both are replaced: said once, and what is in use stays.
    let (third, kept) = (try await TemporaryCertificate(days: -1...365), server.errors.count)
    try scratch.drop([UInt8](Data(contentsOf: URL(filePath: third.key))), as: "ecdsa.key")
    try await eventually("it is said") {
      server.errors.contains("the TLS certificate in use stays")
    }
    try FileManager.default.removeItem(atPath: pairs[1].certificate)
    try await eventually("that a file is missing is said, too") {
      server.errors.contains("\(pairs[1].certificate) cannot be read")
    }
    #expect(try await shows(second, address))
    #expect(try await shows(other, address, isRSA: true))
    try copy(third, to: "ecdsa")
    try copy(other, to: "rsa")
    try await eventually("the complete pair is shown") { try await shows(third, address) }
    let lines = server.errors.dropFirst(kept).split(separator: "\n")
    #expect(lines.count { $0.contains("in use stays") } <= 3, "\(lines)")
    await end(server)
  }

  @Test func `with RSA alone the log says what ECDSA saves, and two of a kind are refused`()
    async throws
  {
    let (one, other) = try await (
      TemporaryCertificate(days: -1...365, key: "rsa"),
      TemporaryCertificate(days: -1...365, key: "rsa")
    )
    let (server, _) = try await start([(one.path, one.key)])
    #expect(server.errors.contains("has an RSA key"), "\(server.errors)")
    await end(server)
    let refused = try await Child.run(
      "richpush",
      ["serve", "--demo", "--listen", "127.0.0.1:0", "--data", folder + "/other"]
        + [one, other].flatMap { ["--tls-certificate", $0.path, "--tls-key", $0.key] })
    #expect(refused.exitCode == 1 && refused.errors.contains("the same kind of key"), "\(refused)")
  }

  // MARK: - certbot

  /// Connects all the time, renews meanwhile as certbot does, and prints how long that takes and what failed.
  private static let renewal = """
    import os, shutil, socket, ssl, sys, threading, time
    port, authorities, live, archive = sys.argv[1:5]
    new = dict(zip(("cert", "fullchain", "chain", "privkey"), sys.argv[5:6] * 3 + sys.argv[6:7]))
    shown, failures, count, over = {}, [], [0], threading.Event()
    def load():
        while not over.is_set():
            try:
                context = ssl.create_default_context(cafile=authorities)
                with socket.create_connection(("127.0.0.1", int(port))) as plain, \\
                        context.wrap_socket(plain, server_hostname="localhost") as secure:
                    for _ in range(2):
                        secure.sendall(b"GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
                        answer = secure.recv(1000)
                        if not answer.startswith(b"HTTP/1.1 200 "): failures.append(str(answer))
                    shown.setdefault(secure.getpeercert()["serialNumber"], time.monotonic())
                    count[0] += 1
            except OSError as error:
                failures.append(repr(error))
    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads: thread.start()
    def until(condition):
        deadline = time.monotonic() + 30
        while not condition() and time.monotonic() < deadline: time.sleep(0.01)
    until(lambda: count[0] > 50)
    # certbot writes the files first, and then replaces one link after the other.
    for kind, source in new.items(): shutil.copy(source, f"{archive}/{kind}2.pem")
    begin = time.monotonic()
    for kind in ("cert", "privkey", "chain", "fullchain"):
        os.unlink(f"{live}/{kind}.pem")
        os.symlink(f"../../archive/localhost/{kind}2.pem", f"{live}/{kind}.pem")
    until(lambda: len(shown) > 1)
    before = count[0]
    until(lambda: count[0] > before + 50)
    over.set()
    for thread in threads: thread.join()
    print(max(shown.values()) - begin if len(shown) == 2 else 99, count[0], failures[:3])
    """

  /// Makes certbot's folders, as readable to others as these are, with the first certificate.
  private func makeLineage(_ certificate: TemporaryCertificate) throws -> (String, String) {
    let (live, archive) = (
      try scratch.makeFolder("letsencrypt/live/localhost").path,
      try scratch.makeFolder("letsencrypt/archive/localhost").path
    )
    for kind in ["cert", "chain", "fullchain", "privkey"] {
      let source = kind == "privkey" ? certificate.key : certificate.path
      let file = "letsencrypt/archive/localhost/\(kind)1.pem"
      try scratch.drop([UInt8](Data(contentsOf: URL(filePath: source))), as: file)
      #expect(chmod(folder + "/" + file, kind == "privkey" ? 0o600 : 0o644) == 0)
      try FileManager.default.createSymbolicLink(
        atPath: "\(live)/\(kind).pem",
        withDestinationPath: "../../archive/localhost/\(kind)1.pem")
    }
    for name in ["live", "archive"] {
      #expect(chmod("\(folder)/letsencrypt/\(name)", 0o700) == 0)
    }
    return (live, archive)
  }

  @Test(arguments: isRoot ? [[], ["--user", "nobody"]] : [[]] as [[String]])
  func `a renewal as certbot does it is served within seconds, and no request fails`(
    flags: [String]
  ) async throws {
    let (first, second) = try await (
      TemporaryCertificate(days: -60...30), TemporaryCertificate(days: -1...90)
    )
    #expect(chmod(folder, 0o755) == 0)
    let (live, archive) = try makeLineage(first)
    let authorities = try scratch.drop(
      [first, second].flatMap { [UInt8](try Data(contentsOf: URL(filePath: $0.path))) },
      as: "authorities.pem"
    ).path
    let (server, address) = try await start(
      [("\(live)/fullchain.pem", "\(live)/privkey.pem")], flags: flags)
    let port = String(address.split(separator: ":").last ?? "")
    let result = try await Child.run(
      "/usr/bin/python3",
      ["-c", Self.renewal, port, authorities, live, archive, second.path, second.key])
    let words = (result.output.first ?? "").split(separator: " ", maxSplits: 2)
    let seconds = try #require(words.first.flatMap { Double($0) }, "\(result) \(server.errors)")
    #expect(seconds < 5, "\(result) \(server.errors)")
    #expect(words.last == "[]", "\(result)")
    #expect(!server.errors.contains("in use stays"), "\(server.errors)")
    await end(server)
  }

  @Test(.enabled(if: isRoot, "only root may change users"))
  func `a key that the server's user cannot read and others could replace is named`()
    async throws
  {
    #expect(chmod(folder, 0o755) == 0)
    let certificate = try await TemporaryCertificate(days: -1...90)
    try scratch.makeFolder("open")
    #expect(chown(folder + "/open", 65_534, 65_534) == 0)
    try copy(certificate, to: "open/own")
    let (server, address) = try await start(
      [("\(folder)/open/own.pem", "\(folder)/open/own.key")], flags: ["--user", "nobody"])
    try await eventually("the log names it") {
      server.errors.contains("own.key cannot be read: Permission denied")
        || server.errors.contains("own.pem cannot be read: Permission denied")
    }
    #expect(try await shows(certificate, address))
    await end(server)
  }

  @Test func `the hook installs what certbot renews, with the rights of the unit`() async throws {
    #expect(chmod(folder, 0o755) == 0)
    let hook = Package.root.path + "/packaging/debian/certbot-hook"
    let own = try #require(getgrgid(getegid())).pointee
    let group = Self.isRoot ? "nogroup" : String(cString: own.gr_name)
    func renew(_ certificate: TemporaryCertificate, _ name: String) async throws {
      let lineage = try scratch.makeFolder("live/" + name).path
      for (from, to) in [(certificate.path, "fullchain.pem"), (certificate.key, "privkey.pem")] {
        let file = "live/\(name)/\(to)"
        try scratch.drop([UInt8](Data(contentsOf: URL(filePath: from))), as: file)
        #expect(chmod(folder + "/" + file, 0o600) == 0)
      }
      let result = try await Child.run(
        hook, [],
        environment: [
          "RENEWED_LINEAGE": lineage, "RICHPUSH_TLS_FOLDER": folder + "/tls",
          "RICHPUSH_GROUP": group, "PATH": "/usr/bin:/bin",
        ])
      #expect(result.exitCode == 0, "\(result.errors)")
    }
    try await renew(TemporaryCertificate(days: -80...5), "push.example")
    let other = try await TemporaryCertificate(days: -1...365, key: "rsa")
    try await renew(other, "push.example-rsa")
    for name in ["assets", "plugins", "var"] {
      try scratch.makeFolder(name)
      if Self.isRoot { #expect(chown("\(folder)/\(name)", 65_534, 65_534) == 0) }
    }
    let pairs = ["push.example", "push.example-rsa"].map {
      (certificate: "\(folder)/tls/\($0)/fullchain.pem", key: "\(folder)/tls/\($0)/privkey.pem")
    }
    let (server, address) = try await start(
      pairs,
      through: Self.isRoot
        ? ["/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
          + ["--pdeathsig", "KILL"] : [])
    try await eventually("the log warns") { server.errors.contains("in 5 days") }
    // The console and `richpush health` show what comes after ok.
    let ready = try await Child.run("/usr/bin/curl", ["-sk", address + "/readyz"])
    #expect(ready.output.first == "ok" && ready.output.count == 2, "\(ready)")
    #expect(ready.output.last?.hasPrefix("The TLS certificate (ECDSA) expires at") == true)
    let renewed = try await TemporaryCertificate(days: -1...365)
    try await renew(renewed, "push.example")
    try await eventually("the renewed certificate is shown") { try await shows(renewed, address) }
    #expect(try await shows(other, address, isRSA: true))
    let after = try await Child.run("/usr/bin/curl", ["-sk", address + "/readyz"])
    #expect(after.output == ["ok"])
    for (path, mode) in [("tls/push.example", 0o750), ("tls/push.example/privkey.pem", 0o640)] {
      let facts = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(path)")
      #expect(facts[.posixPermissions] as? Int == mode)
      #expect(facts[.groupOwnerAccountName] as? String == group)
    }
    let left = try await Child.run("/usr/bin/find", [folder + "/tls", "-name", ".*"])
    #expect(left.output.isEmpty, "\(left)")
    await end(server)
  }
}
