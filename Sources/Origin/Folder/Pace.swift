import CLinux
import Glibc

/// How often the whole folder is looked at although nothing was told of it.
///
/// Where the kernel tells of every change, a look is a safeguard; where it does not, as on a network
/// share, looks are all there is. Either way they take a small part of one processor's time.
struct Pace {
  private let isShare: Bool
  private(set) var isWatched = true
  /// Why the folder could not be looked at the last time.
  private(set) var trouble: String?
  private var cost = Duration.zero

  init(isShare: Bool) { self.isShare = isShare }

  /// Notes what the last look took, and what it could rely on.
  mutating func note(_ cost: Duration, isWatched: Bool, trouble: String?) {
    (self.cost, self.isWatched, self.trouble) = (cost, isWatched, trouble)
  }

  /// The time until the next look.
  var interval: Duration {
    if isShare || !isWatched || trouble != nil { return max(.seconds(1), cost * 20) }
    return max(.seconds(30), min(cost * 1000, .seconds(3600)))
  }

  /// Whether a folder lies on a file system that other machines change without a word (statfs(2)).
  static func isShare(_ path: String) -> Bool {
    var status = statfs()
    guard statfs(path, &status) == 0 else { return false }
    // NFS, SMB and its two successors, FUSE, 9p, Ceph, overlays.
    let silent: [UInt32] = [
      0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x6573_5546, 0x0102_1997, 0x00C3_6400, 0x794C_7630,
    ]
    return silent.contains(UInt32(truncatingIfNeeded: status.f_type))
  }
}
