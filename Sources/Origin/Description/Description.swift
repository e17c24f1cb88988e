import HTTP

/// `GET /api/openapi.json`: what this API takes and gives, in OpenAPI 3.1.
enum Description {
  /// The file beside this one, which the build puts into the program.
  static func get(_ exchange: Exchange) -> Response { answer }

  private static let answer = Response.bytes(
    200, PackageResources.openapi_json, type: "application/json",
    fields: ["Cache-Control": "private, max-age=3600"])
}
