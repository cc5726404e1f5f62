//! The daemon of an emulated disk and nothing else, as `plimsoll disk-daemon` is: the order comes in at standard input. The tests start it.

fn main() -> Result<(), plimsoll_disk::DiskError> {
    plimsoll_disk::serve(std::io::stdin(), std::io::stdout())
}
