import CCurl

/// The transfers of one engine: those in line, and those that libcurl carries.
///
/// Only the thread of the engine touches it.
struct Carriers {
  private let multi: UnsafeMutableRawPointer
  /// Makes a handle with the habits of all requests.
  private let makeHandle: () -> UnsafeMutableRawPointer?
  private var line: [Transfer] = []
  /// How many of the line have gone.
  private var gone = 0
  private var atWork: [ObjectIdentifier: Carrier] = [:]
  private var idle: [Carrier] = []
  private var window = Window()

  init(
    multi: UnsafeMutableRawPointer, makeHandle: @escaping () -> UnsafeMutableRawPointer?
  ) {
    self.multi = multi
    self.makeHandle = makeHandle
  }

  private var isWaiting: Bool { gone < line.count }

  /// Whether a transfer waits that may go now.
  var isReady: Bool { isWaiting && atWork.count < window.size }

  /// Whether transfers wait for an answer to another.
  var isHeldUp: Bool { isWaiting && !isReady }

  mutating func add(_ transfers: [Transfer]) { line += transfers }

  /// Lets as many go as may; each uses connections of at most so many seconds, 0 for any.
  mutating func begin(onConnectionsYoungerThan age: Int) {
    while isReady {
      let transfer = line[gone]
      gone += 1
      if transfer.isFinished { continue }
      guard let carrier = idle.popLast() ?? makeHandle().map(Carrier.init) else {
        transfer.fail("There is no memory for a request.")
        continue
      }
      carrier.load(transfer)
      ccurl_set_number(carrier.handle, CURLOPT_MAXLIFETIME_CONN, age)
      atWork[ObjectIdentifier(carrier)] = carrier
      curl_multi_add_handle(multi, carrier.handle)
    }
    if !isWaiting { (line, gone) = ([], 0) }
  }

  /// Tells the senders of what libcurl has finished.
  mutating func finish() {
    // All are taken first: libcurl looks through what is left whenever one is removed.
    var finished: [(carrier: Carrier, result: CURLcode)] = []
    var result = CURLE_OK
    while let handle = ccurl_multi_next_finished(multi, &result) {
      if let carrier = Carrier.of(handle) { finished.append((carrier, result)) }
    }
    for (carrier, result) in finished {
      if result == CURLE_OK { window.learn(carrier.answerTime) }
      guard let (transfer, answer) = release(carrier, result) else { continue }
      transfer.finish(answer)
    }
  }

  /// Makes room, because nothing was heard for a while.
  mutating func widen() { window.widen() }

  /// Gives transfers up.
  mutating func abandon(_ transfers: [Transfer]) {
    for transfer in transfers {
      if let carrier = transfer.carrier { _ = release(carrier, CURLE_ABORTED_BY_CALLBACK) }
      transfer.fail("The push was abandoned.")
    }
  }

  /// Gives everything up.
  mutating func abandonAll() {
    abandon(atWork.values.compactMap(\.transfer) + line[gone...])
    (line, gone, idle) = ([], 0, [])
  }

  private mutating func release(
    _ carrier: Carrier, _ result: CURLcode
  ) -> (transfer: Transfer, answer: Transfer.Answer)? {
    curl_multi_remove_handle(multi, carrier.handle)
    atWork[ObjectIdentifier(carrier)] = nil
    idle.append(carrier)
    return carrier.unload(result)
  }
}
