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
    var configuration = try OriginConfiguration()
    try configuration.useCertificates(["one.pem"], keys: ["one.key"])
    let monitor = CertificateMonitor(
      configuration, [certificate], log: log.log, now: { clock.date })
    monitor.check()
    #expect(log.all.isEmpty && monitor.problems.isEmpty, "\(log.all)")
    clock.advance(by: .seconds(10 * 86_400))
    for _ in 0..<3 { monitor.check() }
    #expect(log.all.count == 1 && log.contain("in 10 days"), "\(log.all)")
    #expect(log.contain("the TLS certificate one.pem expires at"))
    #expect(monitor.secondsLeft.map(\.file) == ["one.pem"])
    #expect(monitor.secondsLeft.map(\.seconds) == [10 * 86_400])
    // Everybody may know what a connection shows, and not where files are.
    let told = try #require(monitor.problems.first).publicSentence
    #expect(told.hasPrefix("The TLS certificate (ECDSA) expires at"), "\(told)")
    #expect(!told.contains("one.pem"))
    clock.advance(by: .seconds(86_400))
    monitor.check()
    #expect(log.all.count == 2 && log.contain("in 9 days"), "\(log.all)")
    clock.advance(by: .seconds(30 * 86_400))
    monitor.check()
    monitor.check()
    #expect(log.all.count == 3 && log.contain(" expired at "), "\(log.all)")
    #expect(monitor.secondsLeft.map(\.seconds) == [-21 * 86_400])
    clock.advance(by: .seconds(86_400))
    monitor.check()
    #expect(log.all.count == 4)
    monitor.replace(with: [])
    #expect(log.all.count == 4 && monitor.secondsLeft.isEmpty)
  }

  @Test func `each of two certificates is watched`() throws {
    let (one, two) = (
      try #require(TLSCertificate(TestCertificates.one.certificate)),
      try #require(TLSCertificate(TestCertificates.two.certificate))
    )
    let log = LogLines()
    var configuration = try OriginConfiguration()
    try configuration.useCertificates(["one.pem", "two.pem"], keys: ["one.key", "two.key"])
    let end = Date(timeIntervalSince1970: Double(one.validity.upperBound) + 1)
    let monitor = CertificateMonitor(configuration, [one, two], log: log.log, now: { end })
    for _ in 0..<2 { monitor.check() }
    #expect(monitor.secondsLeft.map(\.file) == ["one.pem", "two.pem"])
    #expect(monitor.secondsLeft[0].seconds == -1)
    #expect(log.all.count == 2 && log.contain("one.pem expired at"), "\(log.all)")
    #expect(log.contain("two.pem expire"), "\(log.all)")
  }

  @Test(arguments: ["", "nonsense", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"])
  func `a text that is no certificate is none`(text: String) {
    #expect(TLSCertificate(text) == nil)
  }
}
