import MediaTypes
import PluginKit

/// The picture that a page shows for itself, checked by its bytes.
enum PagePicture {
  private static let mostBytes = 5 << 20
  private static let types: Set = ["image/png", "image/jpeg", "image/gif", "image/webp"]

  /// Fetches the picture and hands it on as the type that its bytes show.
  static func response(_ link: Link, by fetcher: Fetcher) throws -> PluginResponse {
    let (_, answer) = try fetcher.fetch(
      link, accept: types.sorted().joined(separator: ","), limit: mostBytes)
    guard !answer.isCut else { throw FetchError("its picture has more than 5 MB") }
    let type = MediaType.sniff(answer.body).value
    guard types.contains(type) else { throw FetchError("its picture is \(type)") }
    return .document(answer.body, type: type)
  }
}
