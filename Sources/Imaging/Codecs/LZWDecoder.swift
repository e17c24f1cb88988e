/// The compression of GIF: LZW with codes of variable length (GIF89a appendix F).
enum LZWDecoder {
  /// Decodes at most `count` indexes; fewer when the data is short or damaged.
  ///
  /// GIF89a has code sizes up to 8, for 256 colours. Some programs write up to 11, and browsers read
  /// them: a code has at most 12 bits, one more than the code size.
  static func decoded(_ data: [UInt8], codeSize: UInt8, count: Int) -> [UInt8] {
    guard (1...11).contains(codeSize), count > 0 else { return [] }
    let clear = 1 << Int(codeSize)
    var result: [UInt8] = []
    result.reserveCapacity(count)
    var dictionary = Dictionary(roots: clear)
    var previous: Int?
    var width = Int(codeSize) + 1
    var (bits, bitCount, position) = (0, 0, 0)
    while result.count < count {
      while bitCount < width {
        guard position < data.count else { return result }
        bits |= Int(data[position]) << bitCount
        bitCount += 8
        position += 1
      }
      let code = bits & (1 << width - 1)
      bits >>= width
      bitCount -= width
      if code == clear {
        dictionary.count = clear + 2
        width = Int(codeSize) + 1
        previous = nil
        continue
      }
      guard code != clear + 1,
        code < dictionary.count || (code == dictionary.count && previous != nil)
      else { return result }
      if let previous, dictionary.count < 4096 {
        dictionary.add(previous, code)
        if dictionary.count == 1 << width, width < 12 { width += 1 }
      } else if code >= dictionary.count {
        return result
      }
      dictionary.write(code, to: &result)
      previous = code
    }
    result.removeLast(max(0, result.count - count))
    return result
  }

  /// Strings of indexes, each an older one with one more index.
  private struct Dictionary {
    var count: Int
    private var prefixes = [UInt16](repeating: 0, count: 4096)
    private var suffixes = [UInt8](repeating: 0, count: 4096)
    private var firsts = [UInt8](repeating: 0, count: 4096)
    private var lengths = [UInt16](repeating: 1, count: 4096)

    init(roots: Int) {
      count = roots + 2
      for index in 0..<roots {
        // There are at most 256 colours; like browsers this keeps the low byte.
        suffixes[index] = UInt8(truncatingIfNeeded: index)
        firsts[index] = UInt8(truncatingIfNeeded: index)
      }
    }

    /// Adds the string of `previous` with the first index of `code`'s, which may be the new string itself.
    mutating func add(_ previous: Int, _ code: Int) {
      prefixes[count] = UInt16(previous)
      suffixes[count] = code == count ? firsts[previous] : firsts[code]
      firsts[count] = firsts[previous]
      lengths[count] = lengths[previous] + 1
      count += 1
    }

    func write(_ code: Int, to result: inout [UInt8]) {
      let length = Int(lengths[code])
      let start = result.count
      result.append(contentsOf: repeatElement(0, count: length))
      var code = code
      for index in stride(from: start + length - 1, through: start, by: -1) {
        result[index] = suffixes[code]
        code = Int(prefixes[code])
      }
    }
  }
}
