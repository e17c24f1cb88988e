import Foundation
import HTTP
import TestSupport
import Testing

@testable import Origin

/// What the log says of a certificate while time passes.
@Suite(.timeLimit(.minutes(1))) struct CertificateMonitorTests {
  @Test func `a problem is logged when it begins, and once a day`() throws {
    let certificate = try #require(TLSCertificate(Self.pem))
    let end = Double(certificate.validity.upperBound)
    #expect(certificate.isFor("one.test") && !certificate.isFor("two.test"))
    let clock = ManualDate(Date(timeIntervalSince1970: end - 20 * 86_400))
    let log = LogLines()
    let monitor = CertificateMonitor(
      try OriginConfiguration(), certificate, log: log.log, now: { clock.now })
    monitor.check()
    #expect(log.all.isEmpty, "\(log.all)")
    clock.pass(10 * 86_400)
    for _ in 0..<3 { monitor.check() }
    #expect(log.all.count == 1 && log.contain("in 10 days"), "\(log.all)")
    clock.pass(86_400)
    monitor.check()
    #expect(log.all.count == 2 && log.contain("in 9 days"), "\(log.all)")
    clock.pass(30 * 86_400)
    monitor.check()
    monitor.check()
    #expect(log.all.count == 3 && log.contain(" expired at "), "\(log.all)")
    clock.pass(86_400)
    monitor.check()
    #expect(log.all.count == 4)
    monitor.replace(with: nil)
    #expect(log.all.count == 4 && monitor.expiry == nil)
  }

  @Test(arguments: ["", "nonsense", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"])
  func `a text that is no certificate is none`(text: String) {
    #expect(TLSCertificate(text) == nil)
  }

  private final class ManualDate: @unchecked Sendable {  // used by one thread
    private(set) var now: Date

    init(_ now: Date) { self.now = now }

    func pass(_ seconds: Double) { now += seconds }
  }

  private static let pem = """
    -----BEGIN CERTIFICATE-----
    MIIBfTCCASKgAwIBAgITUjpvgahA+F5/+tstucz3kgKaKDAKBggqhkjOPQQDAjAT
    MREwDwYDVQQDDAhvbmUudGVzdDAgFw0yNjExMjIwMTI4NDFaGA8yMTI2MTAyOTAx
    Mjg0MVowEzERMA8GA1UEAwwIb25lLnRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMB
    BwNCAAQQoDoFiCZUdLo2lCtnr61SSe8Vea5fhiXIClCT1+gSoWP6tSfr+jY1VH+r
    2NGjIRvbg07tYFMmL4QdCM+jmAhzo1MwUTAdBgNVHQ4EFgQU5Zslodr4XWEozFLO
    TceIovaJY5UwHwYDVR0jBBgwFoAU5Zslodr4XWEozFLOTceIovaJY5UwDwYDVR0T
    AQH/BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEAi0AAqUQthoolXwSim2GXHOn9
    STXAEwMbN5Z2vkbXHv8CIQDkizasDo//mKtshemBV+Twm7Qc2tMc+evcCDXN1w4t
    Zw==
    -----END CERTIFICATE-----
    """
}
