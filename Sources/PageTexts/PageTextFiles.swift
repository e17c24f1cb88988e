/// The words of the console and of the app, which the build embeds in the program: a table for each language.
///
/// Both pages load `texts.js` from beside their own files. It loads the table of one language.
package enum PageTextFiles {
  /// The files by their names.
  package static let all: KeyValuePairs<String, [UInt8]> = [
    "texts.js": PackageResources.texts_js, "en.js": PackageResources.en_js,
    "de.js": PackageResources.de_js,
  ]
}
