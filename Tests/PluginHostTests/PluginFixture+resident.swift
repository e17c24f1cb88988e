@testable import PluginHost

extension PluginFixture {
  /// Installs a resident plugin in Perl: `body` runs for each request with the connection `$c`, the
  /// parameters `$p` and the content `$in`, and can say `ok(TEXT)` or any bytes it likes; `$id` is
  /// the request's number.
  func resident(
    _ name: String, manifest: String = #""workers":{"max":1}"#, before: String = "", _ body: String
  ) throws {
    try write(
      "plugins/\(name)/plugin.json", "{\"mode\":\"fastcgi\",\"perNotification\":true,\(manifest)}",
      mode: 0o644)
    try write(
      "plugins/\(name)/\(name)",
      #"""
      #!/usr/bin/perl
      use strict; use Socket; use POSIX (); use Time::HiRes 'sleep'; our $id;
      sub rd { my ($c, $n) = @_; my $b = '';
        while (length($b) < $n) { sysread($c, $b, $n - length($b), length($b)) or return undef }
        $b }
      sub request { my $c = shift; my ($p, $in, %p) = ('', '');
        while (1) {
          my $h = rd($c, 8) // return; my ($v, $t, $n, $l, $pad) = unpack('CCnnC', $h); $id = $n;
          my $d = $l ? rd($c, $l) : ''; rd($c, $pad) if $pad;
          $p .= $d if $t == 4; if ($t == 5) { last if !$l; $in .= $d } }
        while (length $p) { my @l;
          for (1..2) { my $x = unpack('C', $p);
            if ($x < 128) { substr($p, 0, 1) = '' }
            else { $x = unpack('N', $p) & 0x7fffffff; substr($p, 0, 4) = '' } push @l, $x }
          my $n = substr($p, 0, $l[0]); $p{$n} = substr($p, $l[0], $l[1]);
          substr($p, 0, $l[0] + $l[1]) = '' }
        (\%p, $in) }
      sub rec { my ($t, $d, $pad) = @_; $pad //= 0;
        pack('CCnnCC', 1, $t, $id, length($d), $pad, 0) . $d . ("\0" x $pad) }
      sub ok { join('', map { rec(6, $_) } unpack('(a60000)*', "Content-Type: text/plain\n\n" . $_[0])) . rec(6, '') .
        rec(3, pack('NCxxx', $_[1] // 0, $_[2] // 0)) }
      my $count = 0;
      """# + "\n\(before)\n"
        + "while (accept(my $c, STDIN)) { my ($p, $in) = request($c); $count++; \(body) }\n")
  }
}
