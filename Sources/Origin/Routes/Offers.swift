import FoundationEssentials
import HTTP
import PluginHost
import Synchronization

/// What the addresses of notifications give, decided before: nothing of the store is read for them.
///
/// An offer is looked over once in each look at the plugins (``PluginGlance``) and ends with its
/// notification, or when that is changed.
final class Offers: Sendable {
  /// Two generations: what is asked for moves to the young one, and when that is full, the old one,
  /// which nobody has asked for since, is dropped.
  private struct Table {
    var young: [String: Offer] = [:]
    var old: [String: Offer] = [:]
    var changes = 0

    mutating func put(_ offer: Offer, for target: String, capacity: Int) {
      if young.count >= capacity / 2, young[target] == nil {
        old = young
        young = [:]
      }
      young[target] = offer
    }
  }

  private let table = Mutex(Table())
  private let capacity: Int

  /// Remembers so many at most.
  init(capacity: Int = 20_000) { self.capacity = max(2, capacity) }

  /// How many are remembered.
  var count: Int { table.withLock { $0.young.count + $0.old.count } }

  /// How many changes have been heard of: to be asked before the store is read.
  var changes: Int { table.withLock { $0.changes } }

  /// What the target gives at the moment, if that is known; asks once in a look whether it is right.
  func find(_ target: String, at moment: Date, in look: Int, isRight: (Offer) -> Bool) -> Offer? {
    guard let offer = known(target) else { return nil }
    guard offer.stands(at: moment), !offer.isUnseen(in: look) || isRight(offer) else {
      offer.end()
      forget(target)
      return nil
    }
    return offer
  }

  /// Remembers what a target gives, unless something was changed since `changes` was asked for.
  ///
  /// What is made for one user never is.
  func put(_ offer: Offer, for target: String, unlessChangedSince changes: Int) {
    guard !offer.wish.plugin.manifest.perUser else { return }
    table.withLock { table in
      guard table.changes == changes else { return }
      table.put(offer, for: target, capacity: capacity)
    }
  }

  /// Remembers what was made of an offer, or that it cannot be kept, if the offer still stands there.
  func fulfil(_ offer: Offer, with content: Content?, for target: String) {
    guard content.map({ $0.etag != offer.content?.etag }) ?? !offer.isMadeEachTime else { return }
    let fulfilled = Offer(offer, made: content)
    table.withLock { table in
      guard table.young[target] === offer || table.old[target] === offer else { return }
      table.old[target] = nil
      table.put(fulfilled, for: target, capacity: capacity)
    }
  }

  /// Ends the offers of a notification that was changed.
  func end(_ id: Int) {
    table.withLock { table in
      table.changes += 1
      for (target, offer) in table.young where offer.wish.subject.id == id {
        offer.end()
        table.young[target] = nil
      }
      for (target, offer) in table.old where offer.wish.subject.id == id {
        offer.end()
        table.old[target] = nil
      }
    }
  }

  private func known(_ target: String) -> Offer? {
    table.withLock { table -> Offer? in
      if let offer = table.young[target] { return offer }
      guard let offer = table.old.removeValue(forKey: target) else { return nil }
      table.put(offer, for: target, capacity: capacity)
      return offer
    }
  }

  private func forget(_ target: String) {
    table.withLock { table in
      table.young[target] = nil
      table.old[target] = nil
    }
  }
}
