import CMicroHTTPD
import Glibc

/// libmicrohttpd's callbacks: the only place where its pointers become ours.
///
/// A connection is retained when it starts and released when it is closed, both in `connected`.
enum Callbacks {
  static let admit: MHD_AcceptPolicyCallback = { context, address, _ in
    guard let worker = worker(context) else { return .NO }
    return worker.connections.admits(Address.text(address)) ? .YES : .NO
  }

  static let connected: MHD_NotifyConnectionCallback = { context, handle, slot, event in
    guard let worker = worker(context), let handle, let slot else { return }
    switch event {
    case .CONNECTION_NOTIFY_STARTED:
      let connection = Connection(handle, worker: worker)
      worker.open += 1
      connection.isExcess = !worker.connections.insert(connection)
      slot.pointee = Unmanaged.passRetained(connection).toOpaque()
    case .CONNECTION_NOTIFY_CLOSED:
      guard let pointer = slot.pointee else { return }
      worker.open -= 1
      Unmanaged<Connection>.fromOpaque(pointer).takeRetainedValue().willClose()
      slot.pointee = nil
    }
  }

  static let targeted:
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) ->
      UnsafeMutableRawPointer? = { _, target, handle in
        guard let target, let connection = connection(handle) else { return nil }
        connection.target = String(cString: target)
        connection.isFresh = false
        connection.become(idle: false)
        connection.hold(connection.worker.times.head)
        return nil
      }

  static let access: MHD_AccessHandlerCallback = {
    _, handle, _, method, version, bytes, size, _ in
    guard let connection = connection(handle), let method, let version, let size else {
      return .NO
    }
    let piece = UnsafeRawBufferPointer(start: bytes, count: size.pointee)
    size.pointee = 0
    return connection.advance(method: method, version: version, bytes: piece)
  }

  static let completed: MHD_RequestCompletedCallback = { _, handle, _, reason in
    connection(handle)?.completed(isComplete: reason == .REQUEST_TERMINATED_COMPLETED_OK)
  }

  static let refused: @convention(c) (OpaquePointer?, UInt32) -> Void = { handle, status in
    connection(handle)?.refuse(unreadable: Int(status))
  }

  private static func worker(_ context: UnsafeMutableRawPointer?) -> Worker? {
    context.map { Unmanaged<Worker>.fromOpaque($0).takeUnretainedValue() }
  }

  private static func connection(_ handle: OpaquePointer?) -> Connection? {
    cmicrohttpd_context(handle).map { Unmanaged<Connection>.fromOpaque($0).takeUnretainedValue() }
  }
}
