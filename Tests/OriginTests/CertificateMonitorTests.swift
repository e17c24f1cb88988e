import Foundation
import HTTP
import StandIns
import TestSupport
import Testing
import Waiting

@testable import Origin

/// What the log says of a certificate while time passes.
@Suite(.timeLimit(.minutes(1))) struct CertificateMonitorTests {
  @Test func `a problem is logged when it begins, and once a day`() throws {
    let certificate = try #require(TLSCertificate(TestCertificates.one.certificate))
    let end = Double(certificate.validity.upperBound)
    #expect(certificate.isFor("one.test") && !certificate.isFor("two.test"))
    let clock = ManualClock(at: Date(timeIntervalSince1970: end - 20 * 86_400))
    let log = LogLines()
    let monitor = CertificateMonitor(
      try OriginConfiguration(), certificate, log: log.log, now: { clock.date })
    monitor.check()
    #expect(log.all.isEmpty, "\(log.all)")
    clock.advance(by: .seconds(10 * 86_400))
    for _ in 0..<3 { monitor.check() }
    #expect(log.all.count == 1 && log.contain("in 10 days"), "\(log.all)")
    clock.advance(by: .seconds(86_400))
    monitor.check()
    #expect(log.all.count == 2 && log.contain("in 9 days"), "\(log.all)")
    clock.advance(by: .seconds(30 * 86_400))
    monitor.check()
    monitor.check()
    #expect(log.all.count == 3 && log.contain(" expired at "), "\(log.all)")
    clock.advance(by: .seconds(86_400))
    monitor.check()
    #expect(log.all.count == 4)
    monitor.replace(with: nil)
    #expect(log.all.count == 4 && monitor.expiry == nil)
  }

  @Test(arguments: ["", "nonsense", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"])
  func `a text that is no certificate is none`(text: String) {
    #expect(TLSCertificate(text) == nil)
  }
}
