import Foundation
import RichPushClient
import Testing
import Waiting

extension Attack {
  /// On rights that a plugin does not have.
  static let onRights = [
    Attack("namespaces and mounts: unshare, clone, clone3, mount, chroot", .filter) { ground in
      var hits: [String] = []
      for name in ["unshare", "clone", "clone3", "mount"] {
        try await ground.attackAndWait([name]) { _ in
          let isPlugin = { (process: ProcessFacts) in process.words == [ground.program.path] }
          let given = ground.launched.filter { !isPlugin($0) }.map { Namespaces($0.pid) }
          let isElsewhere = ground.launched.contains { process in
            isPlugin(process) && !given.contains(Namespaces(process.pid))
          }
          if isElsewhere { hits.append(name) }
        }
      }
      return hits
    },
    Attack("running a setuid program", .noNewPrivileges) { ground in
      guard getuid() == 0 else { return nil }
      let program = ground.program.deletingLastPathComponent().appending(path: "raised").path
      try FileManager.default.copyItem(atPath: ground.program.path, toPath: program)
      let owner: uid_t = 59_732
      chown(program, owner, owner)
      chmod(program, 0o4755)
      defer { unlink(program) }
      var users: String?
      try await ground.attackAndWait(["setuid-program"], [program]) { _ in
        try await eventually("the setuid program runs") {
          let process = ground.launched.first { $0.words == [program, "wait"] }
          users = process.flatMap {
            try? String(contentsOfFile: "/proc/\($0.pid)/status", encoding: .utf8)
          }
          return users != nil
        }
      }
      return users?.contains("\t\(owner)") == true ? ["setuid-program"] : []
    },
    Attack("typing into a terminal (TIOCSTI, TIOCLINUX)", .filter, .landlock(1), .users) { ground in
      let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK)
      defer { close(terminal) }
      var number: Int32 = 0
      var isLocked: Int32 = 0
      // TIOCSPTLCK and TIOCGPTN: what unlockpt and ptsname do.
      guard ioctl(terminal, 0x4004_5431, &isLocked) == 0, ioctl(terminal, 0x8004_5430, &number) == 0
      else { return nil }
      let name = "/dev/pts/\(number)"
      chown(name, ground.mode.user, ground.mode.user)
      let held = open(name, O_RDWR | O_NOCTTY)
      defer { close(held) }
      let answer = try await ground.attack(["type"], [name])
      var bytes = [UInt8](repeating: 0, count: 64)
      let count = read(terminal, &bytes, bytes.count)
      note(["\(count)"], answer)
      // The terminals that have it are those of the machine itself, which a test cannot type into.
      let isDenied = answer.text.contains("TIOCLINUX: -1 Operation not permitted")
      return (count > 0 && bytes.contains(UInt8(ascii: "!")) ? ["type"] : [])
        + (isDenied ? [] : ["TIOCLINUX"])
    },
    Attack("a plugin that everybody may write to, or whose folder is such", .refusal) { ground in
      let script = Array(
        "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n\(ground.canary)'\n".utf8)
      var hits: [String] = []
      for (name, mode, folder) in [("open-file", 0o777, 0o755), ("open-folder", 0o755, 0o777)] {
        let file = try ground.server.scratch.drop(
          script, as: "plugins/\(name)/\(name)", executable: true)
        for path in [file.path, file.deletingLastPathComponent().path] {
          chown(path, ground.mode.user, ground.mode.user)
        }
        chmod(file.path, mode_t(mode))
        chmod(file.deletingLastPathComponent().path, mode_t(folder))
        let alice = ground.server.client("alice")
        let made = try? await alice.create(
          NewNotification("m", richType: name, payload: "x", to: .users(["alice"])))
        guard let made, let media = try? await alice.media(made.id) else { continue }
        if String(decoding: media.bytes, as: UTF8.self) == ground.canary { hits.append(name) }
      }
      return hits
    },
  ]
}

/// In which namespaces a process is, and what is mounted there.
private struct Namespaces: Equatable {
  private let links: [String]
  private let mounts: String?

  init(_ pid: Int32) {
    links = ["user", "mnt", "pid", "net", "ipc"].map { name in
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/ns/\(name)")) ?? ""
    }
    mounts = try? String(contentsOfFile: "/proc/\(pid)/mounts", encoding: .utf8)
  }
}
