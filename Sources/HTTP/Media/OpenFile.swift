import Glibc

/// A file that is held open, for the kernel to send it.
final class OpenFile {
  let descriptor: Int32
  private let gauge: PreparedGauge

  /// Opens the file; nil when enough are open already, or it is gone.
  init?(_ path: String, gauge: PreparedGauge) {
    guard gauge.openDescriptor() else { return nil }
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    self.gauge = gauge
    guard descriptor >= 0 else { return nil }
  }

  deinit {
    gauge.closeDescriptor()
    if descriptor >= 0 { close(descriptor) }
  }
}
