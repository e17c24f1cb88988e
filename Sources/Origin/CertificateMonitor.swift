package import FoundationEssentials
import HTTP
import Primitives
import Synchronization

/// What is wrong with the server's TLS certificate, or will be soon.
package struct CertificateProblem: Sendable, Hashable {
  /// A sentence for the operator.
  package let sentence: String
  /// Whether clients refuse the certificate now.
  package let isFatal: Bool

  /// The longest time of notice in seconds; certificates of 90 days are usually renewed 30 days before their end.
  private static let notice = 14 * 86_400

  /// Nil if nothing is wrong.
  ///
  /// - Parameters:
  ///   - certificate: The certificate.
  ///   - path: Its file.
  ///   - host: The host of the public URL, if there is one.
  ///   - now: The time.
  init?(of certificate: TLSCertificate, at path: String, host: String?, now: Date) {
    let time = Int(now.timeIntervalSince1970)
    let (start, end) = (certificate.validity.lowerBound, certificate.validity.upperBound)
    let isFatal = !(start...end).contains(time) || !certificate.isForServers
    let what: String
    if time > end {
      what = "expired at \(Self.text(end)), so clients refuse to connect: renew it and send SIGHUP"
    } else if time < start {
      what = "is not valid before \(Self.text(start)): is this machine's clock right?"
    } else if !certificate.isForServers {
      what = "may not be used by servers, so clients refuse to connect"
    } else if let host, !certificate.isFor(host) {
      what = "is not for \(host), the host of --public-url, so phones refuse it"
    } else if end - time < min(Self.notice, (end - start) / 4) {
      let days = (end - time) / 86_400
      what = "expires at \(Self.text(end)), in \(days) days: renew it and send SIGHUP"
    } else {
      return nil
    }
    self.isFatal = isFatal
    sentence = "the TLS certificate \(path) \(what)"
  }

  private static func text(_ time: Int) -> String {
    Date(timeIntervalSince1970: Double(time)).formatted(.iso8601)
  }
}

extension OriginConfiguration {
  /// Reads the certificate and its key, and looks for what clients will complain of.
  ///
  /// - Throws: An error that says why the server could not start with them.
  package func checkCertificate(at now: Date = Date()) throws -> CertificateProblem? {
    try identity()?.certificates.first.flatMap { problem(of: $0, at: now) }
  }

  func problem(of certificate: TLSCertificate, at now: Date) -> CertificateProblem? {
    CertificateProblem(
      of: certificate, at: self.certificate ?? "",
      host: publicURL.flatMap { URL(string: $0)?.host },
      now: now)
  }
}

/// Logs what is wrong with the certificate that is in use: at once, when it changes, and once a day.
final class CertificateMonitor: Sendable {
  private struct State {
    var certificate: TLSCertificate?
    var reported: (sentence: String, at: Date)?
  }

  private let configuration: OriginConfiguration
  private let log: Log
  private let now: @Sendable () -> Date
  private let state: Mutex<State>

  /// Without a certificate it does nothing.
  init(
    _ configuration: OriginConfiguration, _ certificate: TLSCertificate?, log: Log,
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    (self.configuration, self.log, self.now) = (configuration, log, now)
    state = Mutex(State(certificate: certificate))
  }

  /// When the certificate in use expires, in seconds since 1970; nil without TLS.
  var expiry: Int? { state.withLock { $0.certificate?.validity.upperBound } }

  /// Looks at another certificate from now on.
  func replace(with certificate: TLSCertificate?) {
    state.withLock { $0 = State(certificate: certificate) }
    check()
  }

  /// Logs a problem, unless it did so within a day.
  func check() {
    let now = now()
    let problem = state.withLock { state -> CertificateProblem? in
      let problem = state.certificate.flatMap { configuration.problem(of: $0, at: now) }
      if let reported = state.reported, reported.sentence == problem?.sentence,
        now.timeIntervalSince(reported.at) < 86_400
      {
        return nil
      }
      state.reported = problem.map { ($0.sentence, now) }
      return problem
    }
    if let problem { log(problem.isFatal ? .error : .warning, "config", problem.sentence) }
  }
}
