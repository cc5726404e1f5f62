#!/bin/sh
# Makes the certificates of the tests again: two authorities, and a server that the first vouches for. Their keys protect nothing.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
new_key() { openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out "$1"; }
for name in authority other-authority; do
    new_key "$work/$name"
    openssl req -x509 -new -key "$work/$name" -days 36500 -subj "/CN=Plimsoll tests, $name" -out "$name.pem"
done
new_key server-key.pem
openssl req -new -key server-key.pem -subj /CN=localhost -out "$work/request"
echo 'subjectAltName = DNS:localhost, IP:127.0.0.1' >"$work/names"
openssl x509 -req -in "$work/request" -CA authority.pem -CAkey "$work/authority" -set_serial 1 -days 36500 -extfile "$work/names" -out server.pem
