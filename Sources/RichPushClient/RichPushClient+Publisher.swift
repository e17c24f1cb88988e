public import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What a publisher sends.
extension RichPushClient {
  /// Creates a notification; when this returns it is stored for good and its pushes are on their way.
  public func create(_ notification: NewNotification) async throws -> RichNotification {
    try await value(request("POST", ["api", "notifications"], json: notification))
  }

  /// Uploads a file as an asset of a rich type, under the name a notification's payload will use.
  public func upload(_ file: URL, name: String? = nil, richType: String) async throws -> Asset {
    let segments = ["api", "assets", richType, name ?? file.lastPathComponent]
    let request = try request("PUT", segments)
    let data: Data
    let response: URLResponse
    do {
      (data, response) = try await session.upload(for: request, fromFile: file)
    } catch {
      throw RichPushError(transfer: error, to: endpoint)
    }
    if let error = RichPushError(response, body: data) { throw error }
    return try JSONCoding.value(in: data)
  }

  /// The assets that can be named in a payload, and those that were refused, with the reason.
  public func assets(richType: String? = nil) async throws -> [Asset] {
    let segments = ["api", "assets"] + (richType.map { [$0] } ?? [])
    var assets: [Asset] = []
    var next: String?
    repeat {
      let query = next.map { [(name: "after", value: $0)] } ?? []
      let page: AssetPage = try await value(request("GET", segments, query: query))
      assets += page.assets
      next = page.next
    } while next != nil
    return assets
  }

  /// Removes an asset; notifications that were already sent keep their content.
  public func removeAsset(_ name: String, richType: String) async throws {
    try await send(request("DELETE", ["api", "assets", richType, name]))
  }
}

private struct AssetPage: Decodable {
  let assets: [Asset]
  let next: String?
}
