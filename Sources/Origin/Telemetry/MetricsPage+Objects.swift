import Store

extension MetricsReport {
  /// The object store and the cache in front of it; nothing if there is none.
  func addObjects(to page: inout PrometheusText) {
    guard let counts = store.objects?.counts else { return }
    page.family("richpush_objects_away", "gauge", "1 while the object store is away.")
    page.sample([:], counts.isAway ? 1 : 0)
    page.family(
      "richpush_objects_requests_total", "counter",
      "Requests to the object store; skipped ones were not sent, because it is away.")
    for operation in ObjectStore.Operation.allCases {
      let requests = counts.requests[operation] ?? ObjectCounts.Requests()
      for (outcome, count) in [
        ("succeeded", requests.succeeded), ("failed", requests.failed),
        ("skipped", requests.skipped),
      ] {
        page.sample(["operation": operation.rawValue, "outcome": outcome], count)
      }
    }
    page.family(
      "richpush_objects_cache_total", "counter",
      "What was looked for in the data folder; misses were requested from the object store.")
    for (content, outcome, count) in [
      ("blob", "hit", counts.cache.blobHits), ("blob", "miss", counts.cache.blobMisses),
      ("rendition", "hit", counts.cache.renditionHits),
      ("rendition", "miss", counts.cache.renditionMisses),
    ] {
      page.sample(["content": content, "outcome": outcome], count)
    }
    page.family(
      "richpush_objects_cache_bytes", "gauge", "Bytes of content in the data folder.")
    page.sample(["content": "blob"], store.blobs.cachedBytes ?? 0)
    page.sample(["content": "rendition"], store.renditions.size)
    page.family(
      "richpush_objects_damaged_total", "counter",
      "Objects that were not used because they are not what was stored.")
    page.sample([:], counts.cache.damaged)
    page.family(
      "richpush_objects_dropped_total", "counter", "Renditions that were not uploaded.")
    page.sample([:], counts.cache.dropped)
  }
}
