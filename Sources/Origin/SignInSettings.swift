import FoundationEssentials
package import Media
import OpenID
import RichPushAPI
import Store

/// How people sign in: at a provider of OpenID Connect, by passwords, or both.
package struct SignInSettings: Sendable {
  /// The environment variables that ``useProvider(_:clientID:environment:)`` reads.
  package static let variables = [
    (
      name: clientSecret,
      explanation: "oidc: the secret that the provider has for this server, if it has one",
      isSecret: true
    ),
    (name: clientSecret + "_FILE", explanation: "oidc: a file with it", isSecret: false),
    (
      name: authority, explanation: "oidc: a PEM file with additional certificate authorities",
      isSecret: false
    ),
  ]
  private static let clientSecret = "RICHPUSH_OIDC_CLIENT_SECRET"
  private static let authority = "RICHPUSH_OIDC_CA"
  /// In place of the name of the only user who has a password.
  package static let everybody = "everybody"

  /// The provider; nil if there are only passwords.
  var provider: OpenIDConfiguration?
  /// The provider's own name; nil if there are only passwords.
  var issuer: String? { provider?.issuer }
  /// The file with the client's secret.
  private(set) var files: [String] = []
  /// What people call the provider.
  package var name = "SSO"
  /// The roles of the members of groups; empty if admins give roles here.
  private(set) var roles: [String: Role] = [:]
  /// Whether somebody who signs in first becomes a user.
  package var makesUsers = true
  /// The only user who can sign in with a password; nil for everybody.
  package var passwordUser: String?

  /// Everybody has a password.
  package init() {}

  /// Whether a user can sign in with a password.
  func admitsPassword(of user: String) -> Bool { passwordUser ?? user == user }

  /// What to add to the sentence that a name or a password is wrong.
  var passwordHint: String {
    passwordUser == nil
      ? "" : ", or passwords are turned off for this user: sign in with \(name), or send a token"
  }

  /// Uses a provider, which knows this server by an ID.
  ///
  /// - Throws: `OperatorError` that names the option or the variable that is wrong.
  package mutating func useProvider(
    _ issuer: String, clientID: String, environment: [String: String]
  ) throws(OperatorError) {
    do throws(OpenIDError) {
      provider = try OpenIDConfiguration(issuer: issuer, clientID: clientID)
    } catch { throw OperatorError("--oidc-issuer: \(error.reason)") }
    provider?.clientSecret = try SecretVariable.text(Self.clientSecret, environment)
    provider?.authority = try SecretVariable.authority(Self.authority, environment)
    files = [environment[Self.clientSecret + "_FILE"] ?? ""].filter { !$0.isEmpty }
  }

  /// What the provider is asked for, and by which claims it names a user and the user's groups.
  ///
  /// - Throws: `OperatorError` that names the option that is wrong.
  package mutating func useClaims(
    scopes: String, name: String, groups: String
  ) throws(OperatorError) {
    let words = scopes.split { $0 == " " || $0 == "," }.map(String.init)
    guard words.allSatisfy({ $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } }) else {
      throw OperatorError("--oidc-scopes must be words such as profile,email, not \(scopes)")
    }
    for (flag, claim) in [("user", name), ("groups", groups)]
    where !(1...255).contains(claim.utf8.count) {
      throw OperatorError("--oidc-\(flag)-claim must be the name of a claim")
    }
    provider?.scopes = ["openid"] + words.filter { $0 != "openid" }
    provider?.nameClaim = name
    provider?.groupsClaim = groups
  }

  /// Gives the members of groups roles, each written `group=role`.
  ///
  /// - Throws: `OperatorError` for an invalid one.
  package mutating func giveRoles(_ entries: [String]) throws(OperatorError) {
    for entry in entries {
      // A group's name may have an equals sign, as in a directory.
      guard let equals = entry.lastIndex(of: "="), equals != entry.startIndex,
        let role = Role(rawValue: String(entry[entry.index(after: equals)...]))
      else {
        throw OperatorError(
          "--oidc-roles must be groups with device, publisher or admin, such as marketing=publisher, not \(entry)"
        )
      }
      roles[String(entry[..<equals])] = role
    }
  }

  /// - Throws: `OperatorError` if the options do not go together.
  func check(publicURL: String?, isDemo: Bool) throws(OperatorError) {
    guard provider != nil else {
      guard passwordUser == nil else {
        throw OperatorError(
          "--password-sign-in needs --oidc-issuer: without passwords nobody else could sign in")
      }
      return
    }
    guard !isDemo else {
      throw OperatorError("--oidc-issuer and --demo: in the demonstration anybody is any user")
    }
    guard let publicURL, OpenIDConfiguration.isProtected(publicURL) else {
      throw OperatorError(
        "--oidc-issuer needs --public-url with https, such as https://push.example: the provider sends people back there"
      )
    }
    guard (1...40).contains(name.count), name.unicodeScalars.allSatisfy({ $0.value >= 0x20 }) else {
      throw OperatorError("--oidc-name must have from 1 to 40 characters")
    }
    if let passwordUser, !UserName.isValid(passwordUser) || passwordUser == "nobody" {
      throw OperatorError(
        "--password-sign-in must be everybody or the name of an admin, for when the provider is away, not \(passwordUser)"
      )
    }
  }

  /// Checks that the only user who can sign in with a password is an admin who has one.
  ///
  /// While there are no users at all, the server runs: the first can be added beside it.
  ///
  /// - Throws: `OperatorError` that says what to do.
  func checkPasswordUser(among users: [User]) throws(OperatorError) {
    guard let name = passwordUser, !users.isEmpty else { return }
    let user = users.first { $0.name == name }
    let problem =
      switch user {
      case nil: "there is no such user: add it by richpush user add \(name) --role admin"
      case let user? where user.role != .admin:
        "this user has the role \(user.role.rawValue): name an admin"
      case let user? where !user.hasPassword:
        "this admin has no password: set one by richpush user password \(name)"
      default: ""
      }
    guard problem.isEmpty else {
      throw OperatorError(
        "--password-sign-in \(name): \(problem), or nobody can sign in while the provider is away")
    }
  }

  /// Asks the provider to describe itself.
  ///
  /// - Throws: `OperatorError` if it does not.
  package func checkProvider() async throws(OperatorError) {
    guard let provider else { return }
    do throws(OpenIDError) { try await OpenIDProvider(provider).check() } catch {
      throw OperatorError("--oidc-issuer: \(error.reason)")
    }
  }

  /// What the groups of somebody allow.
  enum GroupDecision: Equatable {
    /// The role that an admin has given here.
    case asBefore
    case role(Role)
    /// Only members of certain groups may sign in.
    case refused
  }

  /// What the groups of somebody allow: the highest role of all.
  ///
  /// Who is in no group that has a role is a recipient, unless a group has that role.
  func decision(for groups: [String]) -> GroupDecision {
    if roles.isEmpty { return .asBefore }
    let given = Set(groups.compactMap { roles[$0] })
    let highest = [Role.admin, .publisher, .device].first(where: given.contains)
    if let highest { return .role(highest) }
    return roles.values.contains(.device) ? .refused : .role(.device)
  }

  /// Whether groups are looked at.
  var needsGroups: Bool { !roles.isEmpty }
}
