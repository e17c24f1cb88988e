import Testing

@testable import HTTP

@Suite struct AddressRangeTests {
  @Test(
    arguments: [
      ("10.0.0.0/8", "10.255.1.2", true), ("10.0.0.0/8", "11.0.0.0", false),
      ("10.0.0.0/8", "::ffff:10.1.2.3", true), ("10.0.0.5", "10.0.0.5", true),
      ("10.0.0.5", "10.0.0.4", false), ("10.0.0.4/31", "10.0.0.5", true),
      ("10.0.0.4/31", "10.0.0.6", false), ("192.168.128.0/17", "192.168.127.255", false),
      ("0.0.0.0/0", "8.8.8.8", true), ("0.0.0.0/0", "::1", false), ("::/0", "8.8.8.8", false),
      ("2001:db8::/33", "2001:db8:7fff::1", true), ("2001:db8::/33", "2001:db8:8000::1", false),
      ("2001:DB8:0::1", "2001:db8::1", true), ("::ffff:10.0.0.0/8", "10.9.9.9", true),
      ("10.0.0.0/8", "", false), ("10.0.0.0/8", "unknown", false),
    ] as [(String, String, Bool)])
  func `holds the addresses that share its first bits`(
    range: String, address: String, isInside: Bool
  ) throws {
    #expect(try #require(AddressRange(range)).contains(address) == isInside)
  }

  @Test(arguments: [
    "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8",
    "10.0.0.0/0008", "10.0.0.5/8", "10.0.0", "2001:db8::/129", "2001:db8::1/64", "localhost",
    "10.0.0.0/8 ", "1e1.0.0.0", "10.0.0.0/٨",
  ])
  func `refuses what is no address, and bits beyond the prefix`(text: String) {
    #expect(AddressRange(text) == nil)
  }
}
