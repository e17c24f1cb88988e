import HTTP
import Primitives
import RichPushAPI

/// Why somebody who was at the provider is not signed in, as a page for people.
enum ProviderProblem: Error, Sendable, Equatable, CustomStringConvertible {
  /// The request has no cookie of this sign-in, or of another one.
  case otherBrowser
  case tooLate
  case usedBefore
  /// The provider says so, with a word of its own.
  case denied(String)
  case away
  /// What the provider has sent cannot be used; the log says why.
  case unusable
  /// None of the user's groups may sign in.
  case noGroup
  case notLinked(subject: String)
  /// The name that the provider gives is another user's.
  case nameTaken(String, subject: String)
  /// The provider gives no name that a user can have.
  case noName(subject: String)
  case insecure
  /// The user has begun too often to add devices.
  case tooManyDevices

  var description: String { sentences(provider: "The provider", isGerman: false) }

  /// The status of the page.
  var status: Int {
    switch self {
    case .otherBrowser, .tooLate, .usedBefore: 400
    case .denied, .noGroup, .notLinked, .nameTaken, .noName, .insecure: 403
    case .tooManyDevices: 429
    case .unusable: 502
    case .away: 503
    }
  }

  /// What has happened and what to do, in English or German; `provider` is what people call the provider.
  func sentences(provider: String, isGerman: Bool) -> String {
    let (english, german) = sentences(provider)
    return isGerman ? german : english
  }

  private func sentences(_ provider: String) -> (english: String, german: String) {
    switch self {
    case .otherBrowser:
      (
        "This sign-in did not begin in this browser, or another one has begun since. Try again.",
        "Diese Anmeldung hat nicht in diesem Browser begonnen, oder es gibt eine neuere. Versuchen Sie es noch einmal."
      )
    case .tooLate:
      (
        "The sign-in took too long. Try again.",
        "Die Anmeldung hat zu lange gedauert. Versuchen Sie es noch einmal."
      )
    case .usedBefore:
      (
        "This sign-in was used before. Try again.",
        "Diese Anmeldung wurde schon verwendet. Versuchen Sie es noch einmal."
      )
    case .denied(let word):
      (
        "\(provider) has not signed you in (\(word)). Try again, or ask who manages your account there.",
        "\(provider) hat Sie nicht angemeldet (\(word)). Versuchen Sie es noch einmal, oder fragen Sie, wer dort Ihr Konto verwaltet."
      )
    case .away:
      (
        "\(provider) does not answer. Try again in a few minutes.",
        "\(provider) antwortet nicht. Versuchen Sie es in einigen Minuten noch einmal."
      )
    case .unusable:
      (
        "What \(provider) has sent cannot be used. Tell an admin of this server, whose log says why.",
        "Was \(provider) geschickt hat, ist nicht verwendbar. Sagen Sie es einem Admin dieses Servers; der Grund steht in dessen Protokoll."
      )
    case .noGroup:
      (
        "Your account is in none of the groups that may sign in here. Ask an admin to add you to one.",
        "Ihr Konto ist in keiner der Gruppen, die sich hier anmelden dürfen. Bitten Sie einen Admin, Sie aufzunehmen."
      )
    case .notLinked(let subject):
      (
        "No user of this server is linked with your account. An admin can do that, and needs this: \(subject)",
        "Kein Benutzer dieses Servers ist mit Ihrem Konto verknüpft. Ein Admin kann das tun, und braucht dazu: \(subject)"
      )
    case .nameTaken(let name, let subject):
      (
        "There is already a user \(name) here. If that is you, an admin can link this user with your account, and needs this: \(subject)",
        "Hier gibt es schon einen Benutzer \(name). Falls Sie das sind, kann ein Admin ihn mit Ihrem Konto verknüpfen, und braucht dazu: \(subject)"
      )
    case .noName(let subject):
      (
        "\(provider) gives no name, or none that a user can have here: letters without accents, digits and -_.@, at most 64. An admin can link a user with your account, and needs this: \(subject)",
        "\(provider) nennt keinen Namen, oder keinen, den ein Benutzer hier haben kann: Buchstaben ohne Akzente, Ziffern und -_.@, höchstens 64. Ein Admin kann einen Benutzer mit Ihrem Konto verknüpfen, und braucht dazu: \(subject)"
      )
    case .insecure:
      (
        "Sign-in over plain http is possible only on the server's own machine. Use the address that begins with https.",
        "Über http kann man sich nur auf dem Rechner des Servers anmelden. Verwenden Sie die Adresse, die mit https beginnt."
      )
    case .tooManyDevices:
      (
        "You have begun to add too many devices. Try again in a quarter of an hour.",
        "Sie haben zu oft begonnen, ein Gerät hinzuzufügen. Versuchen Sie es in einer Viertelstunde noch einmal."
      )
    }
  }
}

/// A page without scripts, which says what has happened, and looks like the one where people sign in.
enum ProviderPage {
  private static let policy =
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

  /// The page for a problem, with a link to where one signs in, whose files it uses.
  static func response(
    _ problem: ProviderProblem, provider: String, target: SignInAttempt.Target,
    _ context: RequestContext
  ) -> Response {
    let isGerman = context.languages.first?.lowercased().hasPrefix("de") == true
    let text = problem.sentences(provider: provider, isGerman: isGerman).printable.escapedForHTML
    let (title, back) =
      isGerman ? ("Nicht angemeldet", "Zur Anmeldung") : ("Not signed in", "Back to signing in")
    let files = "../\(target.rawValue)/"
    let (icon, styles, page, part, button) =
      switch target {
      case .console: ("icon.svg", ["base.css", "screens.css"], "sign-in", "", "button main")
      case .app: ("icon-192.png", ["app.css"], "", "welcome", "button wide")
      }
    let links = styles.map { "<link rel=\"stylesheet\" href=\"\(files)\($0)\">" }
    let html = """
      <!doctype html>
      <html lang="\(isGerman ? "de" : "en")">
      <head>
      <meta charset="utf-8">
      <title>\(title)</title>
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <link rel="icon" href="\(files)\(icon)">
      \(links.joined(separator: "\n"))
      </head>
      <body>
      <main class="\(page)">
      <div class="\(part)">
      <img class="logo" src="\(files)\(icon)" alt="" width="48" height="48">
      <h1>\(title)</h1>
      <p role="alert">\(text)</p>
      <a class="\(button)" href="\(files)">\(back)</a>
      </div>
      </main>
      </body>
      </html>

      """
    return .bytes(
      problem.status, Array(html.utf8), type: "text/html; charset=utf-8",
      fields: [
        "Content-Security-Policy": policy, "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer", "Vary": "Accept-Language",
        "Cross-Origin-Opener-Policy": "same-origin",
      ])
  }
}
