package import FoundationEssentials
import HTTP
import Primitives
import Synchronization

/// What is wrong with a TLS certificate of the server, or will be soon.
package struct CertificateProblem: Sendable, Hashable {
  /// A sentence for the operator, with the certificate's file.
  package let sentence: String
  /// A sentence that anybody may read.
  let publicSentence: String
  /// Whether clients refuse the certificate now.
  package let isFatal: Bool
  /// What is wrong.
  let code: StatusFacts.Code
  /// The certificate's file.
  let file: String
  /// When the certificate expires.
  let end: Date

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
      code = .certificateExpired
      what = "expired at \(Self.text(end)), so clients refuse to connect: renew it"
    } else if time < start {
      code = .certificateEarly
      what = "is not valid before \(Self.text(start)): is this machine's clock right?"
    } else if !certificate.isForServers {
      code = .certificatePurpose
      what = "may not be used by servers, so clients refuse to connect"
    } else if let host, !certificate.isFor(host) {
      code = .certificateHost
      what = "is not for \(host), the host of --public-url, so phones refuse it"
    } else if end - time < min(ExpiryNotice.longest, (end - start) / ExpiryNotice.share) {
      // Certificates of 90 days are usually renewed 30 days before their end.
      code = .certificateExpires
      let days = (end - time) / 86_400
      what = "expires at \(Self.text(end)), in \(days) \(days == 1 ? "day" : "days"): renew it"
    } else {
      return nil
    }
    (self.isFatal, file) = (isFatal, path)
    self.end = Date(timeIntervalSince1970: Double(end))
    sentence = "the TLS certificate \(path) \(what)"
    let kind: String? =
      switch certificate.keyKind {
      case .ecdsa: "ECDSA"
      case .rsa: "RSA"
      case .other: nil
      }
    publicSentence = "The TLS certificate \(kind.map { "(\($0)) " } ?? "")\(what)."
  }

  private static func text(_ time: Int) -> String {
    Date(timeIntervalSince1970: Double(time)).formatted(.iso8601)
  }
}

extension OriginConfiguration {
  /// Reads the certificates and their keys, and looks for what clients will complain of.
  ///
  /// - Throws: An error that says why the server could not start with them.
  package func checkCertificates(at now: Date = Date()) throws -> [CertificateProblem] {
    let identity = try identity(of: OpenCertificates(certificates), tickets: TLSTicketKeys())
    return problems(of: identity?.certificates ?? [], at: now)
  }

  /// What is wrong with the certificates that are in ``certificates``.
  func problems(of certificates: [TLSCertificate], at now: Date) -> [CertificateProblem] {
    let host = publicURL.flatMap { URL(string: $0)?.host }
    return zip(certificates, self.certificates).compactMap { certificate, files in
      CertificateProblem(of: certificate, at: files.certificate, host: host, now: now)
    }
  }

  /// Logs what would make handshakes cheaper.
  func advise(on certificates: [TLSCertificate], log: Log) {
    guard certificates.contains(where: { $0.keyKind == .rsa }),
      !certificates.contains(where: { $0.keyKind == .ecdsa })
    else { return }
    log(
      .notice, "config",
      """
      the TLS certificate has an RSA key: with another one, for an ECDSA key, a new connection costs about half of \
      the processor time; repeat --tls-certificate and --tls-key to give both
      """)
  }
}

/// Logs what is wrong with the certificates that are in use: at once, when they change, and once a day.
final class CertificateMonitor: Sendable {
  private struct State {
    var certificates: [TLSCertificate]
    /// The sentences that were logged, and when.
    var reported: [String: Date] = [:]
  }

  private let configuration: OriginConfiguration
  private let log: Log
  private let now: @Sendable () -> Date
  private let state: Mutex<State>

  /// Without certificates it does nothing.
  init(
    _ configuration: OriginConfiguration, _ certificates: [TLSCertificate], log: Log,
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    (self.configuration, self.log, self.now) = (configuration, log, now)
    state = Mutex(State(certificates: certificates))
  }

  /// When the certificates in use expire, by their files.
  var ends: [(file: String, time: Date)] {
    let certificates = state.withLock(\.certificates)
    return zip(configuration.certificates, certificates).map {
      ($0.certificate, Date(timeIntervalSince1970: Double($1.validity.upperBound)))
    }
  }

  /// How many seconds from now the certificates in use expire, by their files.
  var secondsLeft: [(file: String, seconds: Int)] {
    let time = Int(now().timeIntervalSince1970)
    return ends.map { ($0.file, Int($0.time.timeIntervalSince1970) - time) }
  }

  /// What is wrong with the certificates in use.
  var problems: [CertificateProblem] {
    configuration.problems(of: state.withLock(\.certificates), at: now())
  }

  /// Looks at others from now on.
  func replace(with certificates: [TLSCertificate]) {
    state.withLock { $0 = State(certificates: certificates) }
    check()
  }

  /// Logs the problems, except those that it has logged within a day.
  func check() {
    let (problems, now) = (problems, now())
    let new = state.withLock { state in
      let new = problems.filter { problem in
        state.reported[problem.sentence].map { now.timeIntervalSince($0) >= 86_400 } ?? true
      }
      let former = state.reported
      state.reported = [:]
      for problem in problems { state.reported[problem.sentence] = former[problem.sentence] }
      for problem in new { state.reported[problem.sentence] = now }
      return new
    }
    for problem in new { log(problem.isFatal ? .error : .warning, "config", problem.sentence) }
  }
}
