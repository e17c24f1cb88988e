import Foundation
import Testing

/// Phrases that readers stumbled on, and that plain ones have replaced.
@Suite(.timeLimit(.minutes(1))) struct WordTests {
  /// As they were written; spaces stand for any white space.
  private static let replaced = [
    "a push carries only an id, and the phone fetches the rest",
    "this is a phone in a second terminal",
    "what it says a moment after each push",
    "A beach, cut to a phone",
    "lets in whoever",
    "The bytes of a sound decide what it is",
    "To read on",
    "plays a phone",
    "takes a notification back",
    "makes of a picture what a device would get",
    "who asks (`--user`)",
    "without it the name itself, as --demo accepts",
    "the drop folder, a folder a rich type",
    "how plugins are shut in",
    "SIGHUP reads both anew",
    "when it is pushed, while it is not",
    "new ones replace on the devices those that have",
    "check, and add, end with 65",
    "publisher (creates for others, sees assets)",
    "what every plugin must stand",
    "for want of descriptors",
    "nobody can come in yet",
    "looked at again and again",
    "the kernel grants no watch",
    "The bytes are application/",
    "The tag expression has the end",
    "A file of the same name in Unicode",
    "what a folder brought",
    ", and the rich type img takes",
    "which phones do not show",
    "The JPEG is truncated",
    "it breaks off after",
    "in Unicode's composed form lies beside it",
    "That cannot be the name of an asset",
    "to matches nobody.",
    "There is no member ",
    "where a tag was expected",
    "A device may notify nobody but itself",
    "how the plugins fare",
    "nothing could be collected",
    "not everything is as it must be",
    "it is no service of Apple's",
    "is well after a call that was called off",
    "Passed over without a word",
    "Who is in stays in",
    "does not wait for strangers",
    "The targets are not reached but where it is said",
    "What no other request has, for its name",
    "when what epoll has told is done",
    "That somebody has to come back",
    "What waits to be made by one plugin",
    "may have gone with the hurried",
    "Has everybody who is in",
    "It only hurries",
    "The address opens nothing: it was not made here",
    "What became of wishes",
    // The same habits in texts of today.
    "shut in by",
    "shuts it in",
    "lies beside the folders",
    "lies in the past",
    "register anew",
    "is passed over: it looks",
    "The upload is gone",
    "Its content is gone",
    "lets anybody in",
    "Mend it and drop it",
    "made anew",
  ]

  @Test func `no text of the programs or the documentation has a phrase that was replaced`() {
    let files =
      Repository.files(in: "Sources", "plugins", endingIn: ".swift", ".c", ".h", ".json")
      + Repository.files(in: "docs", endingIn: ".md") + [Repository.File(path: "README.md")]
    let phrases = Self.replaced.map { (phrase: $0, plain: Self.plain($0)) }
    #expect(files.count > 300, "the whole repository is read")
    for file in files {
      let text = Self.plain(file.text)
      for (phrase, plain) in phrases where text.contains(plain) {
        Issue.record("\(file.path) says “\(phrase)”")
      }
    }
  }

  @Test(arguments: [
    "The bytes\n  /// are of", #"say("The " + "bytes " \#n    + "are of")"#,
    "The bytes \\\n  are of",
    "// The bytes\n// are of", "| The\tbytes are |",
  ])
  func `a phrase is found across lines, comments and joined strings`(text: String) {
    #expect(Self.plain(text).contains(Self.plain("The bytes are")))
  }

  /// The text without line breaks, comment marks and the seams of joined strings, in small letters.
  private static func plain(_ text: String) -> String {
    [
      (#""\s*\+\s*""#, ""), (#"\\\n"#, "\n"), (#"\n\s*(?:///?|\*|#)[ \t]?"#, "\n"), (#"\s+"#, " "),
    ].reduce(text) { text, seam in
      text.replacingOccurrences(of: seam.0, with: seam.1, options: .regularExpression)
    }.lowercased()
  }
}
