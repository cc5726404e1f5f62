# Network namespaces that a script makes, and removes again, also after a kill. Sourced; `made` names the file where name and inode of each are kept: the
# name alone says nothing, because anybody may have used it.

namespace_mark() { printf '%s %s\n' "$1" "$(stat -Lc %d:%i "/run/netns/$1")"; }

make_namespace() {
    ip netns add "$1"
    namespace_mark "$1" >>"$made"
    ip -n "$1" link set lo up
}

# Fails at the first that this did not make.
remove_namespaces() {
    local name
    for name; do
        [ -e "/run/netns/$name" ] || continue
        grep -qsxF "$(namespace_mark "$name")" "$made" || {
            echo "there is a network namespace $name that this did not make. If nobody needs it: ip netns delete $name" >&2
            return 1
        }
        ip netns delete "$name"
    done
    rm -f "$made"
}
