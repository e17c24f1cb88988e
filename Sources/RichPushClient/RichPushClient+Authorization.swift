#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Who sends a request.
enum Sender {
  /// The user, with the password.
  case user
  /// The client's device, with its token.
  case device
}

extension RichPushClient {
  /// Sends a request with credentials; if the token is rejected, once more with another.
  func perform<Body>(
    _ request: HTTPRequest, as sender: Sender,
    _ transfer: (HTTPRequest) async throws -> (Body, HTTPResponse)
  ) async throws(RichPushError) -> (Body, HTTPResponse) {
    let (authorized, token) = try await authorized(request, as: sender)
    let result = try await attempt(authorized, transfer)
    guard result.1.status == 401, let token, basic != nil else { return result }
    if let file = result.0 as? URL { try? FileManager.default.removeItem(at: file) }
    let (again, _) = try await self.authorized(request, as: sender, insteadOf: token)
    return try await attempt(again, transfer)
  }

  /// The request with credentials, and the token if they are one; not the one that the server has rejected.
  func authorized(
    _ request: HTTPRequest, as sender: Sender, insteadOf rejected: String? = nil
  ) async throws(RichPushError) -> (HTTPRequest, token: String?) {
    var request = request
    if let device, sender == .device || basic == nil {
      do throws(RichPushError) {
        let token = try await token(of: device, insteadOf: rejected)
        request.fields["Authorization"] = "Bearer \(token)"
        request.fields["Richpush-Device"] = nil  // the token says which device it is
        return (request, token)
      } catch  where error.code == .notFound && basic != nil {
        // The registration was removed; the user may still read.
      }
    }
    request.fields["Authorization"] = basic
    return (request, nil)
  }

  /// The token of a device; the server issues one if the client has none.
  func token(
    of device: String, insteadOf rejected: String? = nil
  ) async throws(RichPushError) -> String {
    do {
      return try await tokens.token(of: device, insteadOf: rejected) {
        guard basic != nil else {
          throw RichPushError(
            .unauthorized, "The device's token has ended; sign in with the password.")
        }
        let issued: IssuedToken = try await value(
          request("POST", ["api", "register", device, "token"]))
        return issued.token
      }
    } catch let error as RichPushError {
      throw error
    } catch {
      throw RichPushError(transfer: error, to: endpoint)
    }
  }

  /// Sends a request as it is.
  func attempt<Body>(
    _ request: HTTPRequest, _ transfer: (HTTPRequest) async throws -> (Body, HTTPResponse)
  ) async throws(RichPushError) -> (Body, HTTPResponse) {
    do { return try await transfer(request) } catch {
      throw RichPushError(transfer: error, to: endpoint)
    }
  }
}
