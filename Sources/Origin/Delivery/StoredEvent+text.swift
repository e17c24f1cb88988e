import FoundationEssentials
import Store

extension StoredEvent {
  /// `{"type":"receipt","id":"…","time":"…",…}`: as streams and the webhook carry it.
  var text: String {
    let head = #"{"type":"\#(type)","id":"\#(token)","time":"\#(time.formatted(.iso8601))""#
    return head + (data == "{}" ? "}" : "," + data.dropFirst())
  }
}
