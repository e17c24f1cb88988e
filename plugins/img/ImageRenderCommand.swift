import Glibc
import Imaging

/// `img render IN OUT [--profile ios] [--width 320] … [--explain]`: the same work for one file, by hand.
struct ImageRenderCommand {
  private var paths: [String] = []
  private var options = Options()
  private var explains = false
  private var repetitions = 1

  /// Does what the arguments say and ends the process: 0, 64 for wrong usage, 65 for a refused picture.
  static func run(_ arguments: [String]) -> Never {
    do {
      let command = try ImageRenderCommand(arguments)
      try command.render()
      exit(0)
    } catch {
      let detail = error.detail.map { " (\($0))" } ?? ""
      let text = "img: \(error.reason)\(detail)\n"
      _ = Glibc.write(STDERR_FILENO, text, text.utf8.count)
      exit(error.code == .invalidOption ? 64 : 65)
    }
  }

  private init(_ arguments: [String]) throws(ImagingError) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--explain" {
        explains = true
      } else if argument.hasPrefix("--") {
        guard let value = rest.popFirst() else {
          throw ImagingError(.invalidOption, "\(argument) needs a value.")
        }
        if argument == "--repeat" {
          repetitions = max(1, Int(value) ?? 1)
        } else {
          try options.set(String(argument.dropFirst(2)), value)
        }
      } else {
        paths.append(argument)
      }
    }
    guard paths.count == 2 else {
      throw ImagingError(
        .invalidOption,
        "Usage: img render IN OUT [--profile P] [--width N] [--height N] [--fit contain|cover] "
          + "[--focus X,Y] [--dpr N] [--max-bytes N] "
          + "[--explain] [--repeat N]")
    }
  }

  private func render() throws(ImagingError) {
    do {
      try renderPicture()
    } catch {
      throw error.naming(paths[0])
    }
  }

  private func renderPicture() throws(ImagingError) {
    let source = try SourceFile(path: paths[0])
    var fastest = Int.max
    var rendition = try Recipe(options).render(source)
    for _ in 1..<repetitions {
      let start = Self.processorTime
      rendition = try Recipe(options).render(SourceFile(path: paths[0]))
      fastest = min(fastest, Self.processorTime - start)
    }
    try write(rendition.bytes(from: source), to: paths[1])
    if repetitions > 1 { print("fastest: \(fastest) us") }
    guard explains else { return }
    for step in rendition.steps {
      let microseconds = Int(step.duration / .microseconds(1))
      print("\(step.name): \(step.detail) (\(microseconds / 1000).\(microseconds / 100 % 10) ms)")
    }
    print(
      "result: \(rendition.mediaType) \(rendition.size), \(rendition.byteCount) bytes "
        + "of \(source.size)")
    print("memory: \(Self.mostMemory) KiB")
  }

  /// The most memory this process has had at once, in KiB (`VmHWM` in proc(5)).
  private static var mostMemory: Int {
    let descriptor = open("/proc/self/status", O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
      count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
    }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    return lines.first { $0.hasPrefix("VmHWM:") }.flatMap { Int($0.filter(\.isNumber)) } ?? 0
  }

  /// Microseconds of processor time this process has used: what else the machine does is not in it.
  private static var processorTime: Int {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
  }

  private func write(_ bytes: [UInt8], to path: String) throws(ImagingError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    var rest = bytes[...]
    while descriptor >= 0, !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      rest = rest.dropFirst(count)
    }
    guard descriptor >= 0, rest.isEmpty, close(descriptor) == 0 else {
      throw ImagingError(
        .unreadable, "\(path) cannot be written: \(String(cString: strerror(errno))).")
    }
  }
}
