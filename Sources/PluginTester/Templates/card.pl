#!/usr/bin/perl
# The rich type NAME: a card with the payload as its text.
use strict;
use warnings;
use Encode qw(decode);
use JSON::PP;

my $text = decode('UTF-8', $ENV{RICH_PAYLOAD} // '');
if (length $text) {
    print "Content-Type: application/json\n\n";
    print JSON::PP->new->utf8->canonical->encode({ type => 'NAME', text => $text });
} else {
    print "Status: 422\nContent-Type: text/plain\n\n";
    print 'The payload is the text of the card.';
}
