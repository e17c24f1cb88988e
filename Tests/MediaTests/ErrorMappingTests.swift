import Foundation
import PluginHost
import RichPushAPI
import TestSupport
import Testing

@testable import Media
@testable import Store

@Suite(.timeLimit(.minutes(1))) struct ErrorMappingTests {
  @Test(
    arguments: [
      (.noSuchPlugin, .notFound), (.unsupportedVerb, .notFound), (.notFound, .notFound),
      (.gone, .gone), (.contentTooLarge, .tooLarge), (.unsupportedMediaType, .unsupportedType),
      (.invalidContent, .rejected), (.unavailableForLegalReasons, .legallyUnavailable),
      (.failed, .pluginFailed), (.busy, .busy), (.timedOut, .pluginTimedOut),
    ] as [(PluginError.Code, ServiceError.Code)])
  func `an error of a plugin keeps its sentence and its time to wait`(
    code: PluginError.Code, expected: ServiceError.Code
  ) {
    let error = ServiceError(any: PluginError(code, "Why.", retryAfter: 7, cause: "secret"))
    #expect(error == ServiceError(expected, "Why.", retryAfter: 7))
  }

  @Test func `every code of a plugin's error is listed above`() {
    #expect(PluginError.Code.allCases.count == 11)
  }

  @Test func `the response to an unexpected error has no details`() {
    struct Strange: Error {}
    let error = ServiceError(any: Strange())
    #expect(error.code == .internalError && !error.reason.contains("Strange"))
  }

  @Test(
    arguments: [
      (.full, .diskFull, 30), (.tooLarge, .tooLarge, nil), (.conflict, .conflict, nil),
      (.missing, .unavailable, 1), (.busy, .unavailable, 1), (.readOnly, .unavailable, 30),
      (.damaged, .unavailable, 30), (.failed, .unavailable, 30),
    ] as [(StoreError.Code, ServiceError.Code, Int?)])
  func `an error of the store keeps its sentence`(
    code: StoreError.Code, expected: ServiceError.Code, wait: Int?
  ) {
    let error = ServiceError(any: StoreError(code, "Why."))
    #expect(error == ServiceError(expected, "Why.", retryAfter: wait))
  }

  @Test func `an error of the store says when to try again`() async throws {
    let scratch = try Scratch()
    let store = try scratch.store()
    var asset = AssetRecord(
      richType: "img", name: "a", state: .ready, bytes: 1, modified: Date(), stamp: "s")
    asset.blob = Digest(of: "missing")
    let missing = await #expect(throws: ServiceError.self) {
      try await ServiceError.mapping { [asset] in
        try await store.assets.putAsset(asset, event: nil, audit: nil, by: nil, expectedBatch: 1)
      }
    }
    #expect(missing?.code == .unavailable && missing?.retryAfter == 1)
    try await store.accounts.addUser("alice", hash: "", role: .device)
    let conflict = await #expect(throws: ServiceError.self) {
      try await ServiceError.mapping {
        try await store.accounts.addUser("alice", hash: "", role: .admin)
      }
    }
    #expect(conflict?.code == .conflict)
  }
}
