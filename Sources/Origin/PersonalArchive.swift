import FoundationEssentials
import Glibc
import MediaTypes
import Primitives
import Store

/// Everything that the store has of a user, as an archive of JSON texts and media.
struct PersonalArchive {
  let store: Store
  let user: UserID
  let name: String
  /// Called with a line for people.
  let progress: @Sendable (String) -> Void

  /// What is in which file.
  private static let guide = """
    This is what richpush has stored about the user %NAME%, as of %TIME%.
    A file .json is a list; a file .jsonl has one record in each line. Times are in UTC.

    profile.json          name, number and role, and the subjects that were wanted when signing up
    attributes.json       what is known of the user, for texts such as "Hello {{name}}"
    devices.json          the devices that are registered, without the addresses for pushes
    sessions.json         where the user is signed in
    access-tokens.json    tokens and webhooks, without their secrets
    identities.json       who the user is at the provider of the single sign-on
    notifications.jsonl   what the user was sent, and when it arrived, was opened and read, by device
    replies.jsonl         buttons that were pressed, and replies
    sent.jsonl            what the user has sent
    drafts.json           drafts that the user has begun or changed last
    segments.json         the same of saved audiences
    changes.jsonl         what the user has changed of notifications: how that was before
    approvals.jsonl       what the user has approved or refused
    audit.jsonl           what the audit log has of the user
    media/                content that was sent to the user alone, or by the user, under its sha256

    Content that has expired is not stored any more.

    """

  /// Writes the archive; each file is as of the moment when it is written.
  func write(to output: FileDescriptor) async throws {
    let tar = TarWriter(to: output, folder: "richpush-\(name)", time: store.now())
    let guide = Self.guide.replacing("%NAME%", with: name)
      .replacing("%TIME%", with: store.now().formatted(.iso8601))
    try tar.add("README.txt", Array(guide.utf8))
    var media: [Digest: Blob] = [:]
    var types: [Digest: String] = [:]
    for file in PersonalFile.allCases {
      progress("reading \(file.rawValue)")
      let temporary = try temporaryFile()
      try await write(file, to: temporary) { blob, type in
        media[blob.digest] = blob
        types[blob.digest] = type
      }
      try tar.add("\(file.rawValue).\(file.isLines ? "jsonl" : "json")", from: temporary)
    }
    for (index, blob) in media.values.sorted(by: { $0.digest.hex < $1.digest.hex }).enumerated() {
      progress("copying media: \(index + 1) of \(media.count)")
      guard let file = try await open(blob) else { continue }
      let ending = types[blob.digest].flatMap(MediaType.init)?.fileExtension ?? "bin"
      try tar.add("media/\(blob.digest.hex).\(ending)", from: file)
    }
    try tar.end()
  }

  private func write(
    _ file: PersonalFile, to output: FileDescriptor, media: (Blob, String?) -> Void
  ) async throws {
    var (next, isFirst): (Int?, Bool) = (-1, true)
    if !file.isLines { try output.write(Array("[".utf8)) }
    while let after = next {
      let page = try await store.personalData.personalRecords(in: file, of: user, after: after)
      for record in page.records {
        let start = file.isLines ? "" : isFirst ? "\n" : ",\n"
        try output.write(Array((start + record + (file.isLines ? "\n" : "")).utf8))
        isFirst = false
      }
      for (blob, type) in page.media { media(blob, type) }
      next = page.next
    }
    if !file.isLines { try output.write(Array("\n]\n".utf8)) }
  }

  /// The file of a blob; nil if it is not stored any more.
  private func open(_ blob: Blob) async throws -> FileDescriptor? {
    do {
      try await store.blobs.fetch(blob.digest, size: blob.size)
    } catch {
      guard error.code == .missing else { throw error }
      return nil
    }
    do throws(Errno) {
      return try FileDescriptor(store.blobs.path(of: blob.digest), O_RDONLY | O_NOFOLLOW)
    } catch {
      guard error.rawValue == ENOENT else { throw error }
      return nil
    }
  }

  /// A file without a name, which goes with its descriptor.
  private func temporaryFile() throws(Errno) -> FileDescriptor {
    let path = store.uploadPath()
    let file = try FileDescriptor(path, O_RDWR | O_CREAT | O_EXCL)
    unlink(path)
    return file
  }
}
