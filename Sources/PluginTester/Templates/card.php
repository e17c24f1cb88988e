#!/usr/bin/php-cgi
<?php
// The rich type NAME: a card with the payload as its text.
$text = (string) getenv('RICH_PAYLOAD');
if ($text !== '') {
    header('Content-Type: application/json');
    echo json_encode(['type' => 'NAME', 'text' => $text],
        JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE);
} else {
    http_response_code(422);
    header('Content-Type: text/plain');
    echo 'The payload is the text of the card.';
}
