import PluginKit

/// One visit to the page behind a link.
struct Visit {
  /// The page; nil without network, and when it could not be read.
  let page: Page?
  /// Why the page could not be read.
  let failure: String?

  /// Visits the page, or stays at home without a fetcher.
  init(_ link: Link, by fetcher: Fetcher?) {
    guard let fetcher else {
      (page, failure) = (nil, nil)
      return
    }
    do {
      (page, failure) = (try Page.fetch(link, by: fetcher), nil)
    } catch is Refusal {
      (page, failure) = (nil, "it redirects to a link that nobody should be sent to")
    } catch {
      (page, failure) = (nil, "\(error)")
    }
  }

  /// What the publisher should know about the visit.
  var advice: [String] {
    failure.map { ["The page behind the link could not be read: \($0)."] } ?? []
  }

  /// The page's picture as a document of its own.
  func picture(by fetcher: Fetcher?) throws -> PluginResponse {
    guard let fetcher, let link = page?.picture else {
      throw Refusal(
        status: failure == nil ? 404 : 503, "The page behind the link shows no picture.")
    }
    do {
      return try PagePicture.response(link, by: fetcher)
    } catch {
      throw Refusal(status: 503, "The picture of the page cannot be had: \(error).")
    }
  }
}
