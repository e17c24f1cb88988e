import FoundationEssentials
import Primitives
import Testing

@testable import Store

/// What publishers have begun to write.
@Suite(.timeLimit(.minutes(1))) struct DraftTests {
  private let scratch = Scratch()

  @Test func `a draft is finished by another, and is not changed by who has not read it`()
    async throws
  {
    let store = try scratch.open()
    let draft = try await store.addDraft("Summer", by: alice)
    #expect(draft.version == 1 && draft.content == #"{"title":"t"}"# && !draft.isTemplate)
    #expect(draft.author == draft.editor && draft.created == scratch.now.stored)
    scratch.pass(60)
    let next = DraftChange(name: "Summer", content: #"{"title":"Sale"}"#, isTemplate: false)
    guard
      case .changed(let second) = try await store.drafts.changeDraft(
        draft.id, next, version: 1, by: bob)
    else { throw StoreError(.failed, "it was not changed") }
    #expect(second.version == 2 && second.content == next.content)
    #expect(second.author == draft.author && second.editor != draft.author)
    #expect(second.created == draft.created && second.updated == scratch.now.stored)
    #expect(
      try await store.drafts.changeDraft(draft.id, next, version: 1, by: alice)
        == .changedMeanwhile(second))
    #expect(try await store.drafts.draft(draft.id) == second)
    #expect(try await !store.drafts.removeDraft(draft.id, version: 1))
    #expect(try await store.drafts.removeDraft(draft.id, version: 2))
    #expect(try await store.drafts.draft(draft.id) == nil)
    #expect(
      try await store.drafts.changeDraft(draft.id, next, version: nil, by: alice) == .missing)
  }

  @Test func `drafts are listed by their last change, and templates by their names`() async throws {
    let store = try scratch.open()
    var ids: [Int] = []
    for name in ["b", "a", "c"] {
      scratch.pass(1)
      ids.append(try await store.addDraft(name, by: alice).id)
    }
    scratch.pass(1)
    let change = DraftChange(name: "b", content: "{}", isTemplate: false)
    _ = try await store.drafts.changeDraft(ids[0], change, version: nil, by: bob)
    func names(_ areTemplates: Bool, _ skipped: Int, _ limit: Int) async throws -> [String] {
      try await store.drafts.drafts(areTemplates: areTemplates, skipping: skipped, limit: limit)
        .map(\.name)
    }
    #expect(try await names(false, 0, 9) == ["b", "c", "a"])
    #expect(try await names(false, 1, 1) == ["c"])
    for (id, name) in zip(ids, ["b", "a", "c"]) {
      let template = DraftChange(name: name, content: "{}", isTemplate: true)
      _ = try await store.drafts.changeDraft(id, template, version: nil, by: bob)
    }
    #expect(try await names(true, 0, 9) == ["a", "b", "c"])
    #expect(try await names(false, 0, 9).isEmpty)
  }

  @Test func `those of a removed user stay, and a user may not begin too many`() async throws {
    let store = try scratch.open()
    let draft = try await store.addDraft("left", by: store.user("gone"))
    #expect(draft.author == "gone")
    _ = try await store.accounts.removeUser("gone")
    let left = try await store.drafts.draft(draft.id)
    #expect(left?.author == nil && left?.editor == nil && left?.content == draft.content)
    for number in 0..<UserQuota.drafts { _ = try await store.addDraft("\(number)", by: alice) }
    await #expect(throws: StoreError.tooManyDrafts) { try await store.addDraft("more", by: alice) }
    _ = try await store.addDraft("of another", by: bob)
  }

  @Test(.sqlite) func `a backup has them`() async throws {
    let store = try scratch.open()
    let draft = try await store.addDraft("a", by: alice)
    let (backup, restored) = ("\(scratch.folder)/backup", "\(scratch.folder)/restored")
    try await store.backup(to: backup)
    try Store.restore(from: backup, to: restored)
    #expect(try await Store(folder: restored).drafts.draft(draft.id) == draft)
  }
}
