/// Programs that do nothing wrong, but much that a sandbox could mistake for it.
struct WellBehaved: Sendable {
  /// The rich type.
  let name: String
  let program: String
  let manifest: String

  private init(_ name: String, mode: String = "cgi", _ program: String) {
    (self.name, self.program) = (name, program)
    manifest = #"{"mode": "\#(mode)", "query": ["now"], "limits": {"seconds": 20}}"#
  }

  /// None executes a file that it has made executable: plugins that run as the server's user cannot, for
  /// chmod has no effect there.
  ///
  /// Each says something at the end that only comes of everything having worked.
  static let all = [
    WellBehaved(
      "php",
      #"""
      #!/usr/bin/php-cgi
      <?php
      header('Content-Type: text/plain');
      header('Cache-Control: no-store');
      $file = tempnam(sys_get_temp_dir(), 'php');
      file_put_contents($file, "tea\n", FILE_APPEND | LOCK_EX);
      if (!chmod($file, 0640) || !touch($file, 1000000000) || !copy($file, "$file.copy")) exit(1);
      if (!rename("$file.copy", "$file.other") || !mkdir("$file.d", 0750, true)) exit(1);
      echo shell_exec('printf "php says %s" "$(echo tea | tr a-z A-Z)"');
      echo file_get_contents("$file.other"), md5_file($_SERVER['RICH_ASSET_PATH']);
      """#),
    WellBehaved(
      "python",
      #"""
      #!/usr/bin/env python3
      import hashlib, multiprocessing, os, shutil, stat, subprocess, sys, tempfile, threading

      with tempfile.TemporaryDirectory() as folder:
          first = os.path.join(folder, "first")
          shutil.copy2(os.environ["RICH_ASSET_PATH"], first)
          os.chmod(first, 0o600)
          shutil.copytree(folder, os.path.join(folder, "tree"))
          second = shutil.copy2(first, os.path.join(folder, "second"))
          shutil.copystat(first, second)
          shutil.move(second, os.path.join(folder, "third"))
          os.utime(first, (1, 1))
          os.chown(first, -1, -1)
          with tempfile.NamedTemporaryFile(mode="w+") as file:
              os.fchmod(file.fileno(), stat.S_IRUSR | stat.S_IWUSR)
              file.write("tea")
              file.flush()
              tea = subprocess.run(["cat", file.name], capture_output=True, check=True).stdout
          archive = shutil.make_archive(os.path.join(folder, "all"), "tar", os.path.join(folder, "tree"))
          shutil.unpack_archive(archive, os.path.join(folder, "unpacked"))
          with open(os.path.join(folder, "unpacked", "first"), "rb") as file:
              digest = hashlib.sha256(file.read()).hexdigest()
      threads = [threading.Thread(target=os.getpid) for _ in range(8)]
      for thread in threads: thread.start()
      for thread in threads: thread.join()
      ends = multiprocessing.Pipe()
      ends[0].send("through a pair")
      print("Content-Type: text/plain\nCache-Control: no-store\n")
      print("python says", tea.decode(), ends[1].recv(), digest)
      """#),
    WellBehaved(
      "perl", mode: "fastcgi",
      #"""
      #!/usr/bin/perl
      use strict;
      use warnings;
      use FCGI;
      use File::Copy;
      use File::Temp qw(tempdir);

      my $request = FCGI::Request();
      while ($request->Accept() >= 0) {
        my $folder = tempdir(CLEANUP => 1);
        copy($ENV{RICH_ASSET_PATH}, "$folder/first") or die;
        chmod(0600, "$folder/first") == 1 or die;
        utime(1, 1, "$folder/first") == 1 or die;
        move("$folder/first", "$folder/second") or die;
        my $sum = `sha256sum < '$folder/second'`;
        print "Content-Type: text/plain\r\nCache-Control: no-store\r\n\r\nperl says $sum";
      }
      """#),
    WellBehaved(
      "ffmpeg",
      #"""
      #!/bin/sh
      set -e
      ffmpeg -nostdin -v error -f lavfi -i testsrc=size=320x240:rate=10:duration=1 -threads 4 \
        -c:v mpeg4 -flags +bitexact -fflags +bitexact -y "$TMPDIR/film.avi"
      printf 'Content-Type: text/plain\nCache-Control: no-store\n\nffmpeg says\n'
      ffmpeg -nostdin -v error -threads 4 -i "$TMPDIR/film.avi" -f framemd5 -
      ffmpeg -nostdin -v error -threads 4 -i "$RICH_ASSET_PATH" -vf scale=64:64 -threads 4 -f framemd5 -
      """#),
    WellBehaved(
      "imagemagick",
      #"""
      #!/bin/sh
      set -e
      /usr/bin/convert "$RICH_ASSET_PATH" -resize 64x64 -blur 0x2 "$TMPDIR/small.png"
      printf 'Content-Type: text/plain\nCache-Control: no-store\n\nimagemagick says '
      /usr/bin/convert "$TMPDIR/small.png" -depth 8 rgb:- | sha256sum
      """#),
    WellBehaved(
      "bash",
      #"""
      #!/bin/bash
      set -e -o pipefail
      umask 027
      long=$(head -c 300000 /dev/zero | tr '\0' x)
      count=$(wc -c <<<"$long")
      folder=$(mktemp -d)
      trap 'rm -rf "$folder"' EXIT
      cat >"$folder/script" <<'END'
      #!/bin/bash
      echo "$1 of a script"
      END
      chmod 755 "$folder/script"
      cp -a "$folder/script" "$folder/other"
      install -m 700 "$folder/script" "$folder/installed"
      mkfifo "$folder/pipe"
      (sort "$folder/pipe" | uniq | paste -s -d ' ' >"$folder/sorted") &
      printf '%s\n' tea milk tea >"$folder/pipe"
      wait $!
      ulimit -n 64
      nice -n 5 true
      timeout 5 kill -0 $$
      printf 'Content-Type: text/plain\nCache-Control: no-store\n\nbash says %s %s %s %s %s\n' \
        "$count" "$(bash "$folder/other" copy)" "$(bash "$folder/installed" copy)" "$(cat "$folder/sorted")" \
        "$(diff <(seq 3) <(seq 4) || true)"
      """#),
  ]
}
