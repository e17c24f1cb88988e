import HTTP
import RichPushAPI

/// `GET /api/app`: what the recipients' app, and pages of other sites, have to know before anybody is signed in.
struct AppDescriptionRoute: Sendable {
  private let description: Response

  /// Describes the app; `vapidKey` is nil if the server sends no pushes to browsers.
  init(_ configuration: OriginConfiguration, vapidKey: String?) {
    let app = configuration.app ?? AppSettings()
    description = .json(
      200,
      AppDescription(
        name: app.name, colour: app.colour,
        subjects: configuration.subjects.map { .init(tag: $0.tag, name: $0.name) },
        signUp: configuration.signUp?.rawValue, demo: configuration.isDemo, vapidKey: vapidKey,
        singleSignOn: configuration.signIn.provider == nil ? nil : configuration.signIn.name,
        passwords: configuration.signIn.passwordUser == nil))
  }

  func get(_ context: RequestContext) throws -> Response {
    _ = try context.query()
    return description
  }
}
