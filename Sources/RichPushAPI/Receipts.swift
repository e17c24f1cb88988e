#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension RichNotification {
  /// When a notification came so far with any recipient.
  public struct FirstTimes: Sendable, Equatable, Codable {
    /// When the first push was sent; nil so far.
    @Nullable public var sent: Date?
    /// When a device first fetched its media; nil so far.
    @Nullable public var fetched: Date?
    /// When a user first marked it as read; nil so far.
    @Nullable public var read: Date?
    /// When a device first showed it; nil so far.
    @Nullable public var displayed: Date?
    /// When a user first opened it; nil so far.
    @Nullable public var opened: Date?

    /// Creates the times; `displayed` and `opened` can be set afterwards.
    package init(sent: Date?, fetched: Date?, read: Date?) {
      (self.sent, self.fetched, self.read) = (sent, fetched, read)
      (displayed, opened) = (nil, nil)
    }
  }

  /// How far a notification has come with one user.
  public struct Receipt: Sendable, Equatable, Codable {
    /// The user; nil if it was removed.
    @Nullable public var user: String?
    /// How far it has come: `queued`, `sent`, `displayed`, `fetched`, `opened` or `read`.
    public let state: String
    /// When it was first sent to a device of the user.
    @Nullable public var sent: Date?
    /// When a device of the user first fetched its media.
    @Nullable public var fetched: Date?
    /// When the user marked it as read.
    @Nullable public var read: Date?
    /// When a device of the user first showed it.
    @Nullable public var displayed: Date?
    /// When the user first opened it.
    @Nullable public var opened: Date?
    /// When the user first dismissed it.
    @Nullable public var dismissed: Date?
    /// The devices that identify themselves (`RichPushClient.device`).
    public let devices: [Device]

    /// How far it has come on one device.
    public struct Device: Sendable, Equatable, Codable {
      /// The ID of the device's registration.
      public let registration: String
      /// `sent`, `displayed`, `fetched`, `opened` or `read`.
      public let state: String
      /// When the device first fetched the media.
      @Nullable public var fetched: Date?
      /// When the user marked it as read there.
      @Nullable public var read: Date?
      /// When the device first showed it.
      @Nullable public var displayed: Date?
      /// When the user first opened it there.
      @Nullable public var opened: Date?
      /// When the user first dismissed it there.
      @Nullable public var dismissed: Date?

      /// Creates a receipt; what the user did with it can be set afterwards.
      package init(registration: String, state: String, fetched: Date?, read: Date?) {
        (self.registration, self.state) = (registration, state)
        (self.fetched, self.read) = (fetched, read)
        (displayed, opened, dismissed) = (nil, nil, nil)
      }
    }

    /// Creates a receipt; what the user did with it can be set afterwards.
    package init(
      user: String?, state: String, sent: Date?, fetched: Date?, read: Date?, devices: [Device]
    ) {
      self.user = user
      (self.state, self.devices) = (state, devices)
      (self.sent, self.fetched, self.read) = (sent, fetched, read)
      (displayed, opened, dismissed) = (nil, nil, nil)
    }
  }

  /// A push through the outbox, to one device or to an audience of a push service.
  public struct Delivery: Sendable, Equatable, Codable {
    /// The job's number.
    public let job: Int
    /// The lane that sends it.
    public let lane: String
    /// The user; nil for an audience and for a removed user.
    @Nullable public var user: String?
    /// The ID of the device's registration; nil for an audience.
    @Nullable public var registration: String?
    /// `queued`, `sent`, `failed`, `expired` or `cancelled`; once it was sent, the state of the device's receipt.
    public let state: String
    /// The number of attempts.
    public let attempts: Int
    /// When the state last changed.
    public let updated: Date
    /// The push service's reference, once it has been sent.
    @Nullable public var reference: String?
    /// Why it is in this state.
    @Nullable public var reason: String?
    /// While it is queued, when it is to be sent; in the past while it only waits for its turn.
    public var due: Date?

    /// Creates a delivery.
    package init(
      job: Int, lane: String, user: String?, registration: String?, state: String, attempts: Int,
      updated: Date, reference: String?, reason: String?
    ) {
      (self.job, self.lane, self.state, self.attempts) = (job, lane, state, attempts)
      self.updated = updated
      (self.user, self.registration, self.reference) = (user, registration, reference)
      self.reason = reason
    }
  }
}

/// A page of the receipts of a notification.
public struct ReceiptPage: Sendable, Equatable, Codable {
  /// The receipts, in the order in which the users were added.
  public let receipts: [RichNotification.Receipt]
  /// The value of `after` on the next page; nil on the last one.
  @Nullable public var next: Int?

  /// Creates a page.
  package init(receipts: [RichNotification.Receipt], next: Int?) {
    self.receipts = receipts
    self.next = next
  }
}

/// A page of the pushes of a notification.
public struct DeliveryPage: Sendable, Equatable, Codable {
  /// The pushes, in the order in which they were queued.
  public let deliveries: [RichNotification.Delivery]
  /// The value of `after` on the next page; nil on the last one.
  @Nullable public var next: Int?

  /// Creates a page.
  package init(deliveries: [RichNotification.Delivery], next: Int?) {
    self.deliveries = deliveries
    self.next = next
  }
}
