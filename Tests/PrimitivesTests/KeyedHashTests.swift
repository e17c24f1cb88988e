import Testing

@testable import Primitives

@Suite(.timeLimit(.minutes(1))) struct KeyedHashTests {
  /// The key of the paper's test vectors: bytes from 0 to 15.
  private let hash = KeyedHash(key: 0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908)

  // vectors.h of the authors' implementation, and for longer ones `openssl mac … size:16 SIPHASH`.
  @Test(
    arguments: [
      (0, 0xe6a8_25ba_047f_81a3, 0x9302_55c7_1472_f66d),
      (1, 0x44af_996b_d8c1_87da, 0x45fc_229b_1159_7634),
      (7, 0x53c1_dbd8_beeb_f1a1, 0x3982_f01f_a64a_b8c0),
      (8, 0x61f5_5862_baa9_623b, 0xb497_14f3_64e2_830f),
      (63, 0x4a83_502f_77d1_5051, 0x7cbd_3f97_9a06_3e50),
    ] as [(Int, UInt64, UInt64)])
  func `is SipHash-2-4 with 128 bits`(_ count: Int, _ low: UInt64, _ high: UInt64) {
    let text = String(decoding: (0..<UInt8(count)).map { $0 }, as: UTF8.self)
    let value = hash(text)
    #expect(value.low == low && value.high == high)
  }

  @Test func `differs from key to key, and from text to text`() {
    let other = KeyedHash()
    #expect(hash("a") != other("a") && hash("a") != hash("b") && hash("a") == hash("a"))
  }
}
