import Foundation
import Testing

@testable import Push

@Suite(.timeLimit(.minutes(1))) struct ServiceResponseTests {
  private let now = Date(timeIntervalSince1970: 784_111_777)

  @Test(arguments: [
    ("17", 17), ("0", 0), ("-5", 0), ("99999999999", 86_400),
    ("Sun, 06 Nov 1994 08:50:37 GMT", 60), ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
  ])
  func `reads seconds and dates`(text: String, seconds: Int) {
    #expect(ServiceResponse.retryAfter(text, at: now) == .seconds(seconds))
  }

  @Test(arguments: ["", "soon", "nan", "1e400", "12 apples and pears"])
  func `ignores what is neither`(text: String) {
    #expect(ServiceResponse.retryAfter(text, at: now) == nil)
  }

  @Test func `is nil without the field`() {
    #expect(ServiceResponse.retryAfter(nil, at: now) == nil)
  }
}
