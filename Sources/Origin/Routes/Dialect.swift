import HTTP

/// How another program's API, which a route speaks, writes credentials and errors.
protocol Dialect: Sendable {
  /// What `Authorization` would be with the credentials of a request; nil if there are none.
  func authorization(of request: Request, _ parameters: [String]) -> String?
  /// An error.
  func response(to problem: ForeignProblem) -> Response
}

/// An error in words, before it has the form of an API.
struct ForeignProblem {
  /// The status that this API has for it.
  let status: Int
  /// What this API calls it, for programs; nil for what has no code but its status.
  let code: String?
  /// A sentence for people.
  let detail: String
  /// The first member of the request that is wrong, such as `actions`; nil if it is not about one.
  let member: String?

  /// The status of an API that has 400 for whatever is wrong with a request.
  var plainStatus: Int { [409, 412, 415, 422, 451].contains(status) ? 400 : status }
}

extension Dialect {
  /// The field `Authorization`.
  func authorization(of request: Request, _ parameters: [String]) -> String? {
    request.fields["Authorization"]
  }

  /// The response in this dialect: an error gets its form, and keeps fields such as `Retry-After`.
  func translated(_ response: Response) -> Response {
    guard case .problem(let code, let detail, let errors) = response.body else { return response }
    let member = errors.first.map { $0.pointer.dropFirst(2).prefix { $0 != "/" } }
    var translated = self.response(
      to: ForeignProblem(
        status: response.status, code: code, detail: detail, member: member.map(String.init)))
    for (name, value) in response.fields.items {
      switch name.lowercased() {
      case "content-type": break
      case "www-authenticate" where translated.status != 401: break
      default: translated.fields[name] = value
      }
    }
    return translated
  }

  /// The plan whose responses are in this dialect.
  func translated(_ plan: ResponsePlan) -> ResponsePlan {
    switch plan {
    case .deferred(let deadline, let next):
      .deferred(deadline: deadline) { [self] in await translated(next()) }
    case .immediate(let response): .immediate(translated(response))
    case .asynchronous(let deadline, let respond):
      .asynchronous(deadline: deadline) { [self] in await translated(respond()) }
    case .collectingBody(let limit, let deadline, let interruption, let respond):
      .collectingBody(limit: limit, deadline: deadline, interruption: interruption) {
        [self] in await translated(respond($0))
      }
    case .savingBody(
      let limit, let folder, let reserve, let deadline, let interruption, let respond):
      .savingBody(
        limit: limit, folder: folder, reserve: reserve, deadline: deadline,
        interruption: interruption
      ) { [self] in await translated(respond($0)) }
    }
  }
}

extension Response {
  /// An object of JSON in an API of another program.
  static func foreign(_ status: Int, _ text: String) -> Response {
    .bytes(
      status, Array((text + "\n").utf8), type: "application/json",
      fields: ["Cache-Control": "no-store"])
  }
}
