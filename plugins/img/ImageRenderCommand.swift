import Glibc
import Imaging
import Primitives

/// `img render IN OUT [--profile ios] [--width 320] … [--explain]`: renders one file on the command line.
struct ImageRenderCommand {
  private var paths: [String] = []
  private var options = Options()
  private var explains = false
  private var repetitions = 1

  /// Runs the command and exits: with 0, 64 for invalid arguments, or 65 for a refused picture.
  static func run(_ arguments: [String]) -> Never {
    do throws(ImagingError) {
      let command = try ImageRenderCommand(arguments)
      do { try command.render() } catch { throw error.naming(command.paths[0]) }
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
    let source = try SourceFile(path: paths[0])
    var fastest = Int.max
    var rendition = try PictureRenderer(options).render(source)
    for _ in 1..<repetitions {
      let start = Self.processorTime
      rendition = try PictureRenderer(options).render(SourceFile(path: paths[0]))
      fastest = min(fastest, Self.processorTime - start)
    }
    do {
      try FileDescriptor(paths[1], O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
        .write(rendition.bytes(from: source))
    } catch { throw ImagingError(.unreadable, "\(paths[1]) cannot be written: \(error).") }
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

  /// The peak memory of this process, in KiB (`VmHWM` in proc(5)).
  private static var mostMemory: Int {
    let bytes = try? FileDescriptor("/proc/self/status", O_RDONLY).readAll(limit: 4096)
    let lines = String(decoding: bytes ?? [], as: UTF8.self).split(separator: "\n")
    return lines.first { $0.hasPrefix("VmHWM:") }.flatMap { Int($0.filter(\.isNumber)) } ?? 0
  }

  /// The processor time of this process in microseconds, which other processes do not affect.
  private static var processorTime: Int {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
  }
}
