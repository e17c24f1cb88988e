/// What the console and the app have in common, which the build embeds in the program: elements, drawings, and their words,
/// a table for each language.
///
/// Both pages load `languages.js` from beside their own files, which chooses one; the console then loads its words by
/// `texts.js` and `attention-texts.js`, the app by `app-texts.js`.
package enum PagePartFiles {
  /// The files by their names.
  package static let all: KeyValuePairs<String, [UInt8]> = [
    "languages.js": PackageResources.languages_js, "texts.js": PackageResources.texts_js,
    "en.js": PackageResources.en_js, "de.js": PackageResources.de_js,
    "app-texts.js": PackageResources.app_texts_js, "app-en.js": PackageResources.app_en_js,
    "app-de.js": PackageResources.app_de_js,
    "attention-texts.js": PackageResources.attention_texts_js,
    "attention-en.js": PackageResources.attention_en_js,
    "attention-de.js": PackageResources.attention_de_js,
    "elements.js": PackageResources.elements_js, "qr-code.js": PackageResources.qr_code_js,
    "thumb-hash.js": PackageResources.thumb_hash_js,
  ]
}
