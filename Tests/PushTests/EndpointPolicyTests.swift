import Testing

@testable import Push

/// Which endpoints can be registered.
@Suite struct EndpointPolicyTests {
  private static let internalHosts = [
    "0.0.0.0", "0", "00", "0x0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.0.0.1.", "127.1",
    "127.0.1", "0x7f000001", "0x7F.1", "0x7f.0x0.0x0.0x1", "0177.0.0.1", "017700000001",
    "2130706433", "2130706433.", "0300.0250.0.1", "3232235521", "192.168.257", "168.63.129.16",
    "169.254.169.254", "0xa9fea9fe", "172.16.0.1", "192.168.1.1", "198.18.0.1", "224.0.0.1",
    "255.255.255.255", "4294967295", "localhost", "LocalHost", "localhost.", "api.localhost",
    "[::]", "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:10.0.0.1]", "[::FFFF:a00:1]", "[::10.0.0.1]",
    "[::ffff:8.8.8.8]", "[64:ff9b::10.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[fc00::1]",
    "[fd00:ec2::254]", "[fe80::1]", "[fec0::1]", "[ff02::1]",
    // Addresses that nothing reads.
    "256.256.256.256", "4294967296", "1.2.3.4.5", "08.1.1.1", "push.0x7f", "push.1", "0x", "[:]",
    "[1::2::3]",
  ]

  @Test(arguments: internalHosts)
  func `an address that is not public can't be registered`(host: String) {
    for (port, policy) in [
      ("", EndpointPolicy(allowsLoopback: false)), (":8443", EndpointPolicy(allowsLoopback: false)),
    ] {
      let error = #expect(throws: PushError.self) {
        try policy.newEndpoint("https://\(host)\(port)/push/a")
      }
      #expect(error?.reason.contains("public Internet") == true, "\(error?.reason ?? "")")
    }
  }

  @Test(arguments: [
    "push.example", "push.example.", "10.example", "1and1.example", "0x7f.example",
    "localhost.example",
    "fcm.googleapis.com", "8.8.8.8", "134744072", "0x08080808", "[2606:4700::1111]",
    "[64:ff9b::8.8.8.8]", "xn--pxh-fla.example", "abc", "0xyz", "127.0.0.1.nip.example",
  ])
  func `a name, and a public address, can be registered`(host: String) throws {
    let endpoint = try EndpointPolicy(allowsLoopback: false).newEndpoint("https://\(host)/a")
    #expect(endpoint.host == host)
  }

  @Test(arguments: [
    "https://user@10.0.0.1/", "https://push.example@10.0.0.1/", "https://10.0.0.1%2f@push.example/",
    "https://%31%30.0.0.1/", "https://10。0。0。1/", "https://[fe80::1%25eth0]/",
    "https://[::1/", "https://10.0.0.1\\@push.example/",
  ])
  func `a host that could be read in two ways is none`(url: String) {
    #expect(throws: PushError.self) { try EndpointPolicy(allowsLoopback: true).newEndpoint(url) }
  }

  @Test func `the operator can permit a host with a port, in the same spelling`() throws {
    let policy = try EndpointPolicy(
      allowed: ["10.0.0.5:8443", "[fd00::1]:443", "localhost:443"], allowsLoopback: false)
    for url in ["https://10.0.0.5:8443/a", "https://[FD00::1]/a", "https://localhost/a"] {
      let endpoint = try policy.newEndpoint(url)
      #expect(policy.allows(endpoint), "it can also be sent to")
    }
    for url in [
      "https://10.0.0.5/a", "https://10.0.0.5:8444/a", "https://10.0.0.6:8443/a",
      "https://0x0a000005:8443/a", "https://localhost:444/a", "https://127.0.0.1/a",
    ] { #expect(throws: PushError.self, "\(url)") { try policy.newEndpoint(url) } }
  }

  @Test func `a demonstration permits this machine, and nothing else that is not public`() throws {
    let policy = EndpointPolicy(allowsLoopback: true)
    for url in [
      "https://127.0.0.1:8443/a", "http://127.0.0.1:81/a", "http://localhost/a", "https://[::1]/a",
    ] {
      let endpoint = try policy.newEndpoint(url)
      #expect(policy.allows(endpoint), "it can also be sent to")
    }
    for url in ["https://10.0.0.1/a", "https://2130706433/a", "http://10.0.0.1/a"] {
      #expect(throws: PushError.self, "\(url)") { try policy.newEndpoint(url) }
    }
  }
}
