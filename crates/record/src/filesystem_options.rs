//! Which options a filesystem may be made and mounted with.
//!
//! An experiment file may come from a stranger, and what it says here reaches programs that run as root. So the options are listed that bear
//! on how fast a filesystem is, with the values that they take; options that name a path or a device are left out: `-l logdev=` erases a device,
//! `-d DIRECTORY` copies one, and a bare word is another device. Sources: mkfs.xfs(8), mke2fs(8), mkfs.btrfs(8), and the documentation of the
//! three filesystems for their mount options.

use crate::FilesystemKind;

struct MkfsOption {
    /// As it is written, of two names both.
    names: &'static [&'static str],
    takes: Takes,
}

enum Takes {
    Nothing,
    /// A number, a name, or a list of names.
    Plain,
    /// `key` or `key=value`, with commas between them, of these keys.
    Keys(&'static [&'static str]),
}

const fn option(names: &'static [&'static str], takes: Takes) -> MkfsOption {
    MkfsOption { names, takes }
}

const XFS: &[MkfsOption] = &[
    option(&["-b"], Takes::Keys(&["size"])),
    option(&["-m"], Takes::Keys(&["crc", "finobt", "rmapbt", "reflink", "inobtcount", "bigtime"])),
    option(
        &["-d"],
        Takes::Keys(&[
            "agcount", "agsize", "size", "sunit", "swidth", "su", "sw", "noalign", "sectsize",
        ]),
    ),
    option(
        &["-i"],
        Takes::Keys(&[
            "perblock",
            "size",
            "maxpct",
            "attr",
            "projid32bit",
            "sparse",
            "nrext64",
            "exchange",
        ]),
    ),
    option(
        &["-l"],
        Takes::Keys(&[
            "agnum",
            "internal",
            "size",
            "version",
            "sunit",
            "su",
            "sectsize",
            "lazy-count",
        ]),
    ),
    option(&["-n"], Takes::Keys(&["size", "version", "ftype", "parent"])),
    option(&["-s"], Takes::Keys(&["size"])),
    option(&["-K"], Takes::Nothing),
    option(&["-L"], Takes::Plain),
    option(&["-q"], Takes::Nothing),
];

const EXT4: &[MkfsOption] = &[
    option(&["-b"], Takes::Plain),
    option(&["-C"], Takes::Plain),
    option(&["-e"], Takes::Plain),
    option(
        &["-E"],
        Takes::Keys(&[
            "stride",
            "stripe_width",
            "stripe-width",
            "discard",
            "nodiscard",
            "lazy_itable_init",
            "lazy_journal_init",
            "no_copy_xattrs",
            "assume_storage_prezeroed",
            "packed_meta_blocks",
            "num_backup_sb",
            "desc_size",
            "resize",
            "encoding",
            "orphan_file_size",
        ]),
    ),
    option(&["-g"], Takes::Plain),
    option(&["-G"], Takes::Plain),
    option(&["-i"], Takes::Plain),
    option(&["-I"], Takes::Plain),
    option(&["-j"], Takes::Nothing),
    option(&["-J"], Takes::Keys(&["size", "fast_commit_size", "location"])),
    option(&["-L"], Takes::Plain),
    option(&["-m"], Takes::Plain),
    option(&["-N"], Takes::Plain),
    option(&["-O"], Takes::Plain),
    option(&["-q"], Takes::Nothing),
    option(&["-T"], Takes::Plain),
];

const BTRFS: &[MkfsOption] = &[
    option(&["-b", "--byte-count"], Takes::Plain),
    option(&["-d", "--data"], Takes::Plain),
    option(&["-m", "--metadata"], Takes::Plain),
    option(&["-M", "--mixed"], Takes::Nothing),
    option(&["--csum", "--checksum"], Takes::Plain),
    option(&["-n", "--nodesize"], Takes::Plain),
    option(&["-s", "--sectorsize"], Takes::Plain),
    option(&["-O", "--features"], Takes::Plain),
    option(&["-R", "--runtime-features"], Takes::Plain),
    option(&["-L", "--label"], Takes::Plain),
    option(&["-K", "--nodiscard"], Takes::Nothing),
    option(&["-q", "--quiet"], Takes::Nothing),
];

/// Mount options of all filesystems.
const MOUNT: &[&str] = &[
    "async",
    "atime",
    "diratime",
    "dirsync",
    "exec",
    "lazytime",
    "noatime",
    "nodev",
    "nodiratime",
    "noexec",
    "nolazytime",
    "norelatime",
    "nostrictatime",
    "nosuid",
    "relatime",
    "rw",
    "strictatime",
    "sync",
];

const XFS_MOUNT: &[&str] = &[
    "allocsize",
    "attr2",
    "barrier",
    "discard",
    "filestreams",
    "ikeep",
    "inode32",
    "inode64",
    "largeio",
    "lifetime",
    "logbsize",
    "logbufs",
    "max_atomic_write",
    "noalign",
    "noattr2",
    "nobarrier",
    "nodiscard",
    "noikeep",
    "nolargeio",
    "nolifetime",
    "noquota",
    "sunit",
    "swalloc",
    "swidth",
    "wsync",
];

const EXT4_MOUNT: &[&str] = &[
    "acl",
    "auto_da_alloc",
    "barrier",
    "block_validity",
    "commit",
    "data",
    "data_err",
    "delalloc",
    "dioread_lock",
    "dioread_nolock",
    "discard",
    "errors",
    "i_version",
    "init_itable",
    "inode_readahead_blks",
    "inlinecrypt",
    "journal_async_commit",
    "journal_checksum",
    "journal_ioprio",
    "max_batch_time",
    "max_dir_size_kb",
    "mb_optimize_scan",
    "min_batch_time",
    "noacl",
    "noauto_da_alloc",
    "nobarrier",
    "noblock_validity",
    "nodelalloc",
    "nodiscard",
    "noinit_itable",
    "no_prefetch_block_bitmaps",
    "nouser_xattr",
    "orlov",
    "stripe",
    "user_xattr",
];

const BTRFS_MOUNT: &[&str] = &[
    "acl",
    "autodefrag",
    "barrier",
    "commit",
    "compress",
    "compress-force",
    "datacow",
    "datasum",
    "discard",
    "flushoncommit",
    "max_inline",
    "metadata_ratio",
    "noacl",
    "noautodefrag",
    "nobarrier",
    "nodatacow",
    "nodatasum",
    "nodiscard",
    "noflushoncommit",
    "nospace_cache",
    "nossd",
    "nossd_spread",
    "notreelog",
    "space_cache",
    "ssd",
    "ssd_spread",
    "thread_pool",
    "treelog",
];

impl FilesystemKind {
    fn mkfs_options(self) -> &'static [MkfsOption] {
        match self {
            Self::Xfs => XFS,
            Self::Ext4 => EXT4,
            Self::Btrfs => BTRFS,
        }
    }

    fn own_mount_options(self) -> &'static [&'static str] {
        match self {
            Self::Xfs => XFS_MOUNT,
            Self::Ext4 => EXT4_MOUNT,
            Self::Btrfs => BTRFS_MOUNT,
        }
    }

    /// The options that mkfs may be given, such as `-b size=`, for people.
    pub fn mkfs_allows(self) -> Vec<String> {
        let mut list = Vec::new();
        for option in self.mkfs_options() {
            let names = option.names.join("|");
            match option.takes {
                Takes::Nothing => list.push(names),
                Takes::Plain => list.push(format!("{names} VALUE")),
                Takes::Keys(keys) => list.push(format!("{names} {}", keys.join("|"))),
            }
        }
        list
    }

    /// The options that mount may be given, for people.
    pub fn mount_allows(self) -> Vec<&'static str> {
        [MOUNT, self.own_mount_options()].concat()
    }

    /// The first of these words that mkfs must not be given; `None` where it may be given all.
    pub fn refused_for_mkfs(self, words: &[String]) -> Option<String> {
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let Some((option, attached)) = self.mkfs_option(word) else {
                return Some(word.clone());
            };
            let value = match (&option.takes, attached) {
                (Takes::Nothing, None) => continue,
                (Takes::Nothing, Some(_)) => return Some(word.clone()),
                (_, Some(value)) => Some(value),
                (_, None) => words.next().map(String::as_str),
            };
            let is_allowed = value.is_some_and(|value| match option.takes {
                Takes::Nothing => false,
                Takes::Plain => is_plain(value, |c| "^,=".contains(c)),
                Takes::Keys(keys) => value.split(',').all(|part| is_pair(part, keys)),
            });
            if !is_allowed {
                let shown = match (attached, value) {
                    (None, Some(value)) => format!("{word} {value}"),
                    _ => word.clone(),
                };
                return Some(shown);
            }
        }
        None
    }

    /// The option that a word begins with, and the value that stands in the same word.
    fn mkfs_option(self, word: &str) -> Option<(&'static MkfsOption, Option<&str>)> {
        let named = |name: &str| {
            let mut options = self.mkfs_options().iter();
            options.find(|option| option.names.contains(&name))
        };
        if word.starts_with("--") {
            return match word.split_once('=') {
                Some((name, value)) => Some((named(name)?, Some(value))),
                None => Some((named(word)?, None)),
            };
        }
        let (name, value) = word.split_at_checked(2)?;
        Some((named(name)?, Some(value).filter(|value| !value.is_empty())))
    }

    /// The first of these words that mount must not be given; `None` where it may be given all.
    pub fn refused_for_mount(self, words: &[String]) -> Option<String> {
        let refused = words
            .iter()
            .find(|word| !is_pair(word, MOUNT) && !is_pair(word, self.own_mount_options()));
        refused.cloned()
    }
}

/// Whether it is one of the keys, alone or with a plain value.
fn is_pair(part: &str, keys: &[&str]) -> bool {
    match part.split_once('=') {
        Some((key, value)) => keys.contains(&key) && is_plain(value, |_| false),
        None => keys.contains(&part),
    }
}

/// Whether a value can be nothing but a number, a name or a size, or holds only some other characters besides.
fn is_plain(value: &str, other: impl Fn(char) -> bool) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.+%:-".contains(c) || other(c);
    !value.is_empty() && !value.starts_with(['-', '.']) && value.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_ascii_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn options_that_bear_on_speed_are_allowed() {
        for (kind, text) in [
            (
                FilesystemKind::Xfs,
                "-m reflink=0,crc=1 -b size=4k -l size=64m,lazy-count=1 -K -i sparse=0",
            ),
            (FilesystemKind::Xfs, "-d agcount=8,su=64k,sw=4 -n ftype=1"),
            (
                FilesystemKind::Ext4,
                "-O ^has_journal,extent -m 0 -E stride=4,nodiscard -Enodiscard -b 4096",
            ),
            (FilesystemKind::Ext4, "-J size=64 -T largefile4 -I 256"),
            (
                FilesystemKind::Btrfs,
                "-m single -d single --nodesize 16k --csum=xxhash -O ^free-space-tree -K",
            ),
        ] {
            assert_eq!(kind.refused_for_mkfs(&words(text)), None, "{text}");
        }
        for (kind, text) in [
            (FilesystemKind::Xfs, "noatime nobarrier allocsize=64k logbufs=8"),
            (FilesystemKind::Ext4, "data=writeback commit=30 barrier=0 nodelalloc"),
            (FilesystemKind::Btrfs, "compress=zstd:3 nodatacow discard=async"),
        ] {
            assert_eq!(kind.refused_for_mount(&words(text)), None, "{text}");
        }
    }

    #[test]
    fn what_names_a_path_or_a_device_is_refused() {
        for (kind, text, refused) in [
            (FilesystemKind::Xfs, "-l logdev=/dev/loop1,size=10m", "-l logdev=/dev/loop1,size=10m"),
            (FilesystemKind::Xfs, "-llogdev=/dev/loop1", "-llogdev=/dev/loop1"),
            (FilesystemKind::Xfs, "-K -r rtdev=/dev/loop1", "-r"),
            (FilesystemKind::Xfs, "-d file,name=/etc/passwd", "-d file,name=/etc/passwd"),
            (FilesystemKind::Xfs, "-d name=x", "-d name=x"),
            (FilesystemKind::Xfs, "-c options=/etc/shadow", "-c"),
            (FilesystemKind::Xfs, "-p /etc", "-p"),
            (FilesystemKind::Xfs, "/dev/loop1", "/dev/loop1"),
            (FilesystemKind::Xfs, "-N", "-N"),
            (FilesystemKind::Xfs, "-f", "-f"),
            // Several options in one word; some readers see only the first.
            (FilesystemKind::Xfs, "-Kp /etc", "-Kp"),
            (FilesystemKind::Ext4, "-d /etc", "-d"),
            (FilesystemKind::Ext4, "-J device=/dev/loop1", "-J device=/dev/loop1"),
            (FilesystemKind::Ext4, "-z /root/undo", "-z"),
            (FilesystemKind::Ext4, "-l /etc/shadow", "-l"),
            (FilesystemKind::Ext4, "-b -F", "-b -F"),
            (FilesystemKind::Ext4, "-L ../x", "-L ../x"),
            (FilesystemKind::Ext4, "-m", "-m"),
            (FilesystemKind::Ext4, "--", "--"),
            (FilesystemKind::Btrfs, "-m raid1 loop1", "loop1"),
            (FilesystemKind::Btrfs, "-r /etc", "-r"),
            (FilesystemKind::Btrfs, "--rootdir=/etc", "--rootdir=/etc"),
            (FilesystemKind::Btrfs, "--root /etc", "--root"),
            (FilesystemKind::Btrfs, "--label=/dev/x", "--label=/dev/x"),
            (FilesystemKind::Btrfs, "--mixed=1", "--mixed=1"),
            (FilesystemKind::Btrfs, "-", "-"),
            (FilesystemKind::Btrfs, "é", "é"),
        ] {
            let expected = Some(refused);
            assert_eq!(kind.refused_for_mkfs(&words(text)).as_deref(), expected);
        }
        for kind in FilesystemKind::ALL {
            for option in [
                "bind",
                "remount",
                "loop=/dev/loop1",
                "logdev=/dev/loop1",
                "rtdev=/dev/loop1",
                "journal_path=/dev/loop1",
                "usrjquota=/x",
                "device=/dev/loop1",
                "subvol=/x",
                "x-mount.mkdir",
                "X-mount.owner=1",
                "suid",
                "dev",
                "noatime=/x",
                "commit=../5",
                "",
            ] {
                let found = kind.refused_for_mount(&["noatime".to_owned(), option.to_owned()]);
                assert_eq!(found.as_deref(), Some(option));
            }
        }
    }
}
