import Delivery
import Foundation
import HTTP
import Intake
import Media
import PluginHost
import Push
import RichPushAPI
import Store
import TestSupport
import Testing

@testable import Origin

@Suite(.timeLimit(.minutes(1))) struct MetricsAccessTests {
  private static let token = "0123456789abcdef"

  private static func status(
    _ entries: [String] = [], peer: String = "127.0.0.1", isPeerForwarded: Bool = false,
    _ fields: Fields = [:]
  ) throws -> Int {
    let request = try Request(
      "GET", "/metrics", fields: fields, peer: peer, isPeerForwarded: isPeerForwarded)
    return try MetricsAccess(entries).rejection(of: request)?.status ?? 200
  }

  @Test(arguments: ["127.0.0.1", "127.8.9.10", "::1"])
  func `programs on this machine may read`(peer: String) throws {
    #expect(try Self.status(peer: peer) == 200)
    #expect(try Self.status(peer: peer, isPeerForwarded: true, ["X-Forwarded-For": peer]) == 200)
  }

  @Test(arguments: ["10.0.0.5", "192.0.2.1", "2001:db8::1", "128.0.0.1", "", "::2"])
  func `other machines may not read`(peer: String) throws {
    #expect(try Self.status(peer: peer) == 403)
    #expect(try Self.status(peer: peer, isPeerForwarded: true) == 403)
  }

  @Test(arguments: [
    "Forwarded", "forwarded", "X-Forwarded-For", "x-forwarded-proto", "X-FORWARDED-HOST",
    "X-Forwarded-Anything", "X-Real-IP", "Via",
  ])
  func `a client behind a proxy is not taken for the proxy`(field: String) throws {
    for peer in ["127.0.0.1", "10.0.0.5"] {
      #expect(try Self.status(["10.0.0.0/8"], peer: peer) == 200)
      #expect(try Self.status(["10.0.0.0/8"], peer: peer, [field: "127.0.0.1"]) == 403)
      #expect(try Self.status(["10.0.0.0/8"], peer: peer, [field: ""]) == 403)
    }
  }

  @Test func `addresses and networks that the operator allows may read`() throws {
    let entries = ["10.0.0.0/8", "2001:db8::7"]
    #expect(try Self.status(entries, peer: "10.1.2.3") == 200)
    #expect(try Self.status(entries, peer: "2001:db8::7") == 200)
    #expect(try Self.status(entries, peer: "2001:db8::8") == 403)
    #expect(try Self.status(entries, peer: "11.0.0.1") == 403)
    #expect(try Self.status(entries, peer: "127.0.0.1") == 200)
  }

  @Test(
    arguments: [
      ("Bearer 0123456789abcdef", 200), ("bearer 0123456789abcdef", 200), ("", 401),
      ("Bearer", 401), ("Bearer ", 401), ("Bearer 0123456789abcde", 401),
      ("Bearer 0123456789abcdeg", 401), ("Bearer 0123456789abcdef0", 401),
      ("Bearer token:0123456789abcdef", 401), ("Basic 0123456789abcdef", 401),
      ("0123456789abcdef", 401), ("Bearer 0123456789abcdef, Bearer x", 401),
    ] as [(String, Int)])
  func `a client with a token may read from any address`(field: String, status: Int) throws {
    let entries = ["token:fedcba9876543210", "token:" + Self.token]
    let fields: Fields = ["Authorization": field, "X-Forwarded-For": "192.0.2.1"]
    #expect(try Self.status(entries, peer: "192.0.2.1", fields) == status)
  }

  @Test func `asks for a token if there is one`() throws {
    let request = try Request("GET", "/metrics", peer: "192.0.2.1")
    let refusal = try MetricsAccess(["token:" + Self.token]).rejection(of: request)
    #expect(refusal?.fields["WWW-Authenticate"]?.hasPrefix("Bearer ") == true)
  }

  @Test(arguments: [
    "token:0123456789abcde", "token:0123456789 abcdef", "token:0123456789;abcdef", "token:",
    "tokn:0123456789abcdef", "0123456789abcdef", "10.0.0.5/8", "push.example", "",
  ])
  func `rejects an invalid entry without repeating it`(entry: String) throws {
    let error = #expect(throws: OperatorError.self) {
      try MetricsAccess(["10.0.0.0/8", entry])
    }
    #expect(error?.reason.contains("entry 2 of 2") == true)
    let secret = entry.drop { $0 != ":" }.dropFirst()
    if !secret.isEmpty { #expect(error?.reason.contains(secret) == false) }
  }
}
