import FoundationEssentials
import Primitives

extension StoreError {
  /// A user has as many devices as it may have.
  static func tooManyDevices(_ limit: Int) -> StoreError {
    StoreError(
      .conflict,
      "\(limit) devices are registered, and this user may have no more: remove one, or ask an admin "
        + "to raise the number")
  }

  /// A user has as many access tokens as it may have.
  static let tooManyAccessTokens = StoreError(
    .conflict,
    "there are \(UserQuota.accessTokens) access tokens and webhooks, and this user may have no more: remove one"
  )

  /// A user has an access token of this name.
  static func accessTokenExists(_ name: String) -> StoreError {
    StoreError(
      .conflict,
      "there is an access token or a webhook “\(name)” already: remove it, or choose another name")
  }

  /// A user has begun as many drafts as it may have.
  static let tooManyDrafts = StoreError(
    .conflict,
    "\(UserQuota.drafts) drafts and templates are of this user, who may have no more: remove one")

  /// A user has made as many segments as it may have.
  static let tooManySegments = StoreError(
    .conflict,
    "\(UserQuota.segments) segments are of this user, who may have no more: remove one")

  /// A user has as many open pairings as it may have.
  static let tooManyPairings = StoreError(
    .conflict,
    "\(UserQuota.pairings) codes to pair a device are open, and this user may have no more: revoke one, or wait "
      + "until one expires")

  /// As many wait for approval as may.
  static let tooManySignUps = StoreError(
    .exhausted, "\(UserQuota.waitingSignUps) people wait for approval already; try again later",
    retryAfter: 3600)

  /// A user's devices have as many Web Push services as they may have.
  static let tooManyServices = StoreError(
    .conflict,
    "the devices of this user have \(UserQuota.webPushServices) different Web Push services "
      + "and may have no more: remove one")

  /// A device has replied to a notification as often as it may.
  static let tooManyReplies = StoreError(
    .conflict, "a device may reply to a notification \(UserQuota.replies) times")

  /// A user's devices have sent as much as they may; another hour begins at `end`.
  static func tooManyOwnNotifications(until end: Date, at now: Date) -> StoreError {
    StoreError(
      .exhausted,
      "the devices of a user may send \(UserQuota.ownNotifications) notifications within an hour",
      retryAfter: max(1, Int(end.timeIntervalSince(now).rounded(.up))))
  }
}

extension UserQuota {
  /// The first millisecond whose hour has not ended.
  static func ownWindow(at now: Date) -> Date { now - (Double(ownWindow) - 0.001) }
}
