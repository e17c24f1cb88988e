/// How much of what all users share one user may take; the table in docs/SECURITY.md has these numbers.
///
/// What is stored is counted in the database, so its quota holds for all nodes together. What is under way is
/// counted by each node.
package enum UserQuota {
  // MARK: Stored

  /// Registered devices, unless an admin has set another number for the user.
  package static let devices = 64
  /// The numbers of devices that an admin can set.
  package static let settableDevices = 1...1_000_000
  /// Different Web Push services of a user's devices.
  package static let webPushServices = 16
  /// What a user's devices send within ``ownWindow``: to the user, and to others whose handles they register.
  package static let ownNotifications = 100
  /// The time in seconds after which ``ownNotifications`` are counted anew.
  package static let ownWindow = 3600

  /// Access tokens, with webhooks and those that have expired within the last 30 days.
  package static let accessTokens = 50
  /// Failed deliveries that are kept of a webhook.
  package static let failedDeliveries = 20
  /// The most bytes of the body of a failed delivery that is kept.
  package static let failedDelivery = 64 << 10
  /// Drafts and templates that the user has begun.
  package static let drafts = 200
  /// The most bytes of a draft.
  package static let draft = 64 << 10
  /// Segments that the user has made.
  package static let segments = 100
  /// Open codes to pair a device.
  package static let pairings = 5
  /// People who have signed up and wait for approval, together.
  package static let waitingSignUps = 10_000

  /// Replies of one device to one notification.
  package static let replies = 20

  // MARK: Under way

  /// Pushes that are being sent to Web Push services.
  package static let webPushTransfers = 128
  /// Threads that resolve host names of Web Push services.
  package static let resolvingThreads = 4
  /// Event streams of one device, by its token.
  package static let streamsPerDevice = 8
  /// Event streams for each device that the user may register.
  package static let streamsPerRegistration = 2
  /// Tables that are being exported.
  package static let exports = 4
  /// Files that are being uploaded and checked.
  package static let uploads = 8
  /// Request bodies that are being received into memory.
  package static let bodies = 256
  /// Dry runs that wait for an earlier one.
  package static let waitingDryRuns = 4
  /// Renditions that wait for other renditions of the user by the same plugin.
  package static let waitingRenditions = 64
}
