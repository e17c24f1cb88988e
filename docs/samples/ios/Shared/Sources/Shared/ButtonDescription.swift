import Foundation
import RichPushClient

/// A button of a notification, as the app draws it and as a category has it.
public struct ButtonDescription: Identifiable, Equatable, Sendable {
  /// What a press does.
  public enum Effect: Equatable, Sendable {
    case open(URL)
    /// Asks for a text; the question is in the empty field.
    case ask(question: String)
    case dismiss
    /// Only tells the publisher.
    case report
  }

  public let id: String
  public let label: String
  public let effect: Effect
  public let isDestructive: Bool

  public init(_ action: MessageAction) {
    (id, label, isDestructive) = (action.id, action.label, action.destructive == true)
    effect =
      if let link = action.link.flatMap(InboxItem.web) {
        .open(link)
      } else if let input = action.input {
        .ask(question: input)
      } else {
        action.dismiss == true ? .dismiss : .report
      }
  }

  /// Whether the app has to come to the front for it.
  public var opensApp: Bool { if case .open = effect { true } else { false } }

  /// What the app reports when it is pressed, with the text that it asked for; nil without that text.
  public func interaction(text: String? = nil) -> Interaction? {
    switch effect {
    case .open, .dismiss, .report: .action(id)
    case .ask: text.map { .reply($0, to: id) }
    }
  }
}

/// A category that the app itself registers at its start, for notifications with `category`.
///
/// One without gets a category that `RichPushClient.complete(_:)` makes of its buttons.
public struct CategoryDescription: Equatable, Sendable {
  public let id: String
  public let buttons: [ButtonDescription]

  public init(_ id: String, _ actions: [MessageAction]) {
    (self.id, buttons) = (id, actions.map(ButtonDescription.init))
  }

  /// The categories of this app.
  public static let all: [CategoryDescription] = {
    var answer = MessageAction("answer", label: "Reply")
    answer.input = "Your answer"
    var cancel = MessageAction("cancel", label: "Cancel order")
    cancel.destructive = true
    return [CategoryDescription("ORDER", [answer, cancel])]
  }()
}
