/// The connections of an event loop whose handshakes can go on, and wait for each other.
///
/// Those that have begun come first: their clients get what they came for sooner, and fewer half handshakes are in memory.
struct WaitingHandshakes {
  private var begun: [Connection] = []
  private var new: [Connection] = []
  /// How many of `new` have had their turn.
  private var done = 0

  var isEmpty: Bool { begun.isEmpty && done == new.count }

  /// Adds a connection, unless it is there already or its peer has sent nothing.
  mutating func add(_ connection: Connection) {
    guard !connection.waitsForHandshake else { return }
    let hasBegun = connection.transport.tls?.hasBegun == true
    guard hasBegun || connection.reader.isReadable else { return }
    connection.beginWaiting()
    if hasBegun { begun.append(connection) } else { new.append(connection) }
  }

  /// Removes the connection whose turn it is; nil if there is none.
  mutating func removeFirst() -> Connection? {
    guard let connection = begun.popLast() ?? nextNew() else { return nil }
    connection.endWaiting()
    return connection
  }

  private mutating func nextNew() -> Connection? {
    guard done < new.count else { return nil }
    let connection = new[done]
    done += 1
    // Now and then, as an array moves what is behind.
    if done == new.count || done > 1000 {
      new.removeFirst(done)
      done = 0
    }
    return connection
  }
}
