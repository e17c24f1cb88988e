import Imaging
import PluginKit

extension Options {
  /// The options of a request; a name or number that means nothing is refused.
  init(_ request: PluginRequest) throws(ImagingError) {
    self.init()
    try set("profile", request.profile)
    try set("fit", request.fit)
    try set("focus", request.query["focus"])
    try set("linear", request.query["linear"])
    width = request.width
    height = request.height
    maximumBytes = request.maxBytes
    if let dpr = request.dpr { try set("dpr", "\(dpr)") }
  }
}
