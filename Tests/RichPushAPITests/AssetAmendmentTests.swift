import Foundation
import Testing

@testable import RichPushAPI

@Suite struct AssetAmendmentTests {
  @Test(arguments: [
    ("0.5,0.3", "0.5,0.3"), ("0,1", "0,1"), ("0.0,1.000", "0,1"), (".25,0.123456", "0.25,0.1235"),
    ("1,0.00001", "1,0"),
  ])
  func `a focus has one text`(_ text: String, _ canonical: String) throws {
    #expect(try #require(Asset.Focus(text)).description == canonical)
    #expect(Asset.Focus(canonical)?.description == canonical)
  }

  @Test(arguments: [
    "", ",", "0.5", "0.5,", ",0.5", "0.5,0.5,0.5", "0.5,,0.5", "0.5;0.5", " 0.5,0.5", "0.5, 0.5",
    "nan,0.5", "0.5,inf", "-0,0.5", "-0.1,0.5", "1.0001,0.5", "0.5,2", "1e-1,0.5", "0x1p-1,0.5",
    "٠,٠", "0.5,0.5\0", "0.5.5,0.5", String(repeating: "0", count: 100_000) + ",0",
  ])
  func `what is no point of a picture is no focus`(_ text: String) {
    #expect(Asset.Focus(text) == nil)
  }

  @Test func `numbers that are none are no focus`() {
    #expect(Asset.Focus(x: .nan, y: 0) == nil && Asset.Focus(x: 0, y: .infinity) == nil)
    #expect(Asset.Focus(x: -0.1, y: 0) == nil && Asset.Focus(x: 0, y: 1.1) == nil)
  }

  @Test func `a member that is missing stays, and null removes it`() throws {
    let amendment = try JSONCoding.request(AssetAmendment.self, from: Array(#"{"alt":null}"#.utf8))
    #expect(amendment.alt == .removal && amendment.focus == .none)
    #expect(JSONCoding.text(amendment) == #"{"alt":null}"#)
  }

  @Test(arguments: [
    ["a,b"], [",\u{301}"], [" "], [""], ["a\nb"], ["a\0"], [String(repeating: "a", count: 65)],
    (0..<21).map(String.init),
  ])
  func `what is no label gets a fault`(_ labels: [String]) {
    #expect(AssetAmendment(labels: labels).faults.map(\.member).allSatisfy { $0 == "labels" })
    #expect(!AssetAmendment(labels: labels).faults.isEmpty)
  }

  @Test func `twenty words are labels`() {
    let labels = (0..<19).map(String.init) + [String(repeating: "ü", count: 32)]
    #expect(AssetAmendment(labels: labels).faults.isEmpty)
  }

  @Test func `all that is wrong is said at once`() {
    #expect {
      try JSONCoding.request(AssetAmendment.self, from: Array(#"{"alt":1,"focus":[0,1]}"#.utf8))
    } throws: { error in
      (error as? ServiceError)?.faults.map(\.member) == ["alt", "focus"]
    }
  }

  @Test func `an asset of an earlier server has neither, whatever its plugin says`() throws {
    let text = #"{"richType":"x","name":"n","state":"ready","alt":[1],"focus":0.5}"#
    let asset = try JSONCoding.decode(Asset.self, from: text.utf8)
    #expect(asset.alt == nil && asset.focus == nil)
  }
}
