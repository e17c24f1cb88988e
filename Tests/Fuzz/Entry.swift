// Compiled together with the targets of a module by run.bash, for libFuzzer.
import Glibc

/// The target that the environment variable FUZZ_TARGET names, of those in `targets`.
private let chosen: @Sendable ([UInt8]) -> Void = {
  let name = getenv("FUZZ_TARGET").map { String(cString: $0) } ?? ""
  guard let target = targets[name] else { fatalError("there is no target “\(name)”") }
  return target
}()

/// Called by libFuzzer for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  chosen(Array(UnsafeBufferPointer(start: start, count: count)))
  return 0
}
