//! What lies under a directory: filesystem and block device.

use crate::Host;
use crate::host::chosen;
use crate::mounts::{Mount, mount_of};
use nix::sys::statvfs::statvfs;
use plimsoll_record::Storage;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Filesystems that keep their files on another machine. Their source is written down in place of a device.
pub(crate) const NETWORK_FILESYSTEMS: [&str; 11] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "ceph",
    "glusterfs",
    "fuse.glusterfs",
    "fuse.sshfs",
    "lustre",
    "9p",
    "virtiofs",
];

/// The disk of a block device, both as directories of sysfs: what a partition is of, and any other itself.
pub fn whole_disk(device: &Path) -> &Path {
    match device.parent() {
        Some(parent) if device.join("partition").exists() => parent,
        _ => device,
    }
}

impl Host {
    /// What lies under a directory, which need not exist yet.
    pub fn storage(&self, directory: &Path) -> Storage {
        let place = self.real_place(directory);
        let mounts = self.mounts();
        let mut storage =
            Storage { directory: directory.display().to_string(), ..Storage::default() };
        if let Some(mount) = mount_of(&mounts, &place) {
            storage.filesystem = Some(mount.kind.clone());
            storage.mount_options = Some(mount.all_options());
            self.describe_source(mount, &mut storage);
        }
        if self.is_here()
            && let Ok(status) = statvfs(&place)
        {
            let block_bytes = status.fragment_size();
            storage.size_bytes = Some(status.blocks() * block_bytes);
            storage.free_bytes = Some(status.blocks_available() * block_bytes);
        }
        storage
    }

    /// The nearest directory that exists, without symbolic links.
    fn real_place(&self, directory: &Path) -> PathBuf {
        let absolute = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
        if !self.is_here() {
            return absolute;
        }
        absolute.ancestors().find_map(|path| path.canonicalize().ok()).unwrap_or(absolute)
    }

    fn describe_source(&self, mount: &Mount, storage: &mut Storage) {
        if let Some(upper) = mount.option("upperdir") {
            storage.other.insert("overlay_upper_directory".to_owned(), upper.to_owned());
        }
        match self.block_device(mount) {
            Some(block_device) => self.describe_device(&block_device, storage),
            None if mount.source.starts_with("/dev")
                || NETWORK_FILESYSTEMS.contains(&mount.kind.as_str()) =>
            {
                storage.device = Some(mount.source.display().to_string());
            }
            // A pool, as of ZFS, is named after itself.
            None if mount.kind == "zfs" => {
                storage.device = Some(mount.source.display().to_string())
            }
            None => {}
        }
    }

    /// The directory of the device in sysfs.
    fn block_device(&self, mount: &Mount) -> Option<PathBuf> {
        let by_number = self.path(format!("sys/dev/block/{}", mount.device_number));
        if let Ok(found) = by_number.canonicalize() {
            return Some(found);
        }
        // Btrfs and its like show a number of their own instead of that of their device.
        let source = &mount.source;
        if !source.starts_with("/dev") {
            return None;
        }
        let device = self.path(source).canonicalize().unwrap_or_else(|_| source.clone());
        let name = device.file_name()?.to_str()?;
        self.path(format!("sys/class/block/{name}")).canonicalize().ok()
    }

    /// Btrfs reads ahead by a figure of its own, not by that of its device. The file that holds it, in KiB, where there is a mounted Btrfs on the device of this
    /// name.
    pub fn btrfs_readahead(&self, device: &str) -> Option<PathBuf> {
        let folder = self.path("sys/fs/btrfs");
        let ids = self.names("sys/fs/btrfs").into_iter();
        let mut filesystems = ids.map(|id| folder.join(id));
        let found = filesystems.find(|one| one.join("devices").join(device).exists())?;
        Some(found.join("bdi/read_ahead_kb"))
    }

    /// `device` is a directory of sysfs below the root of this host.
    fn describe_device(&self, device: &Path, storage: &mut Storage) {
        // Slashes in names are exclamation marks in sysfs.
        let name = device.file_name().unwrap_or_default().to_string_lossy().replace('!', "/");
        storage.device = Some(format!("/dev/{name}"));
        let whole = whole_disk(device);
        let read = |path: &str| Host::at(whole).read(path);
        storage.device_model = read("device/model").or_else(|| read("device/name"));
        storage.rotational = read("queue/rotational").map(|text| text == "1");
        storage.scheduler = read("queue/scheduler")
            .map(|text| chosen(&text).map_or_else(|| text.clone(), str::to_owned));
        let of_btrfs = self.btrfs_readahead(&name);
        let readahead = of_btrfs.and_then(|file| std::fs::read_to_string(file).ok());
        storage.readahead_bytes = readahead
            .or_else(|| read("queue/read_ahead_kb"))
            .and_then(|text| Some(text.trim().parse::<u64>().ok()? * 1024));
        let driver = whole.join("device/driver").canonicalize().ok();
        let driver = driver.and_then(|path| Some(path.file_name()?.to_str()?.to_owned()));
        let below = Host::at(whole).names("slaves").join(", ");
        let other = [
            ("driver", driver),
            ("write_cache", read("queue/write_cache")),
            ("logical_block_bytes", read("queue/logical_block_size")),
            ("device_mapper_name", read("dm/name")),
            ("raid_level", read("md/level")),
            ("loop_backing_file", read("loop/backing_file")),
            ("made_of", (!below.is_empty()).then_some(below)),
        ];
        let known: BTreeMap<String, String> =
            other.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect();
        storage.other.extend(known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    /// A disk with two partitions, a device-mapper volume on one of them, and filesystems without device.
    fn server() -> Tree {
        const MOUNTS: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 259:2 / / rw,relatime shared:1 - ext4 /dev/root rw,errors=remount-ro
30 27 253:0 / /data rw,noatime shared:2 - xfs /dev/mapper/vg-data rw,attr2,noquota
31 27 0:45 /@home /home rw,relatime shared:3 - btrfs /dev/disk/by-label/big rw,ssd,subvolid=257,subvol=/@home
32 27 0:50 / /tmp rw,nosuid - tmpfs tmpfs rw,size=1024k
33 27 0:51 / /net rw - nfs4 server:/export rw,vers=4.2
34 27 0:52 / /merged rw - overlay overlay rw,lowerdir=/l,upperdir=/data/upper,workdir=/w
";
        const NVME: &str = "sys/devices/pci0/nvme/nvme0/nvme0n1";
        let nvme = |path: &str| format!("{NVME}/{path}");
        let files = [
            ("proc/self/mountinfo".to_owned(), MOUNTS),
            (nvme("nvme0n1p2/partition"), "2\n"),
            (nvme("nvme0n1p3/partition"), "3\n"),
            (nvme("device"), "-> ../../nvme0"),
            (
                "sys/devices/pci0/nvme/nvme0/model".to_owned(),
                "Samsung SSD 970 EVO Plus 1TB            \n",
            ),
            (nvme("queue/rotational"), "0\n"),
            (nvme("queue/scheduler"), "[none] mq-deadline kyber bfq\n"),
            (nvme("queue/read_ahead_kb"), "128\n"),
            (nvme("queue/write_cache"), "write back\n"),
            (nvme("queue/logical_block_size"), "512\n"),
            ("sys/devices/virtual/block/dm-0/dm/name".to_owned(), "vg-data\n"),
            ("sys/devices/virtual/block/dm-0/slaves/nvme0n1p3".to_owned(), "-> x"),
            ("sys/devices/virtual/block/dm-0/queue/read_ahead_kb".to_owned(), "4096\n"),
            ("sys/devices/virtual/block/dm-0/queue/rotational".to_owned(), "0\n"),
            ("sys/devices/pci0/sdb/queue/rotational".to_owned(), "1\n"),
            ("sys/devices/pci0/sdb/device/model".to_owned(), "ST4000NM0035\n"),
            ("sys/drivers/sd/bind".to_owned(), "\n"),
            ("sys/devices/pci0/sdb/device/driver".to_owned(), "-> ../../../../drivers/sd"),
            (
                "sys/dev/block/259:2".to_owned(),
                "-> ../../devices/pci0/nvme/nvme0/nvme0n1/nvme0n1p2",
            ),
            ("sys/dev/block/253:0".to_owned(), "-> ../../devices/virtual/block/dm-0"),
            ("sys/class/block/sdb".to_owned(), "-> ../../devices/pci0/sdb"),
            ("dev/sdb".to_owned(), "\n"),
            ("sys/devices/pci0/sdb/queue/read_ahead_kb".to_owned(), "128\n"),
            ("sys/fs/btrfs/features/raid56".to_owned(), "0\n"),
            ("sys/fs/btrfs/ab-12/devices/sdb".to_owned(), "-> ../../../../devices/pci0/sdb"),
            ("sys/fs/btrfs/ab-12/bdi/read_ahead_kb".to_owned(), "4096\n"),
            ("dev/disk/by-label/big".to_owned(), "-> ../../sdb"),
        ];
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        Tree::new(&files)
    }

    fn other(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_partition_has_the_properties_of_its_disk() {
        let expected = Storage {
            directory: "/srv/plimsoll".to_owned(),
            filesystem: Some("ext4".to_owned()),
            mount_options: Some("rw,relatime,errors=remount-ro".to_owned()),
            device: Some("/dev/nvme0n1p2".to_owned()),
            device_model: Some("Samsung SSD 970 EVO Plus 1TB".to_owned()),
            rotational: Some(false),
            scheduler: Some("none".to_owned()),
            readahead_bytes: Some(128 << 10),
            other: other(&[("logical_block_bytes", "512"), ("write_cache", "write back")]),
            ..Storage::default()
        };
        let found = server().host().storage(Path::new("/srv/plimsoll"));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_volume_names_what_it_is_made_of() {
        let storage = server().host().storage(Path::new("/data/runs"));
        assert_eq!(storage.filesystem.as_deref(), Some("xfs"));
        assert_eq!(storage.device.as_deref(), Some("/dev/dm-0"));
        assert_eq!(storage.readahead_bytes, Some(4 << 20));
        let expected = other(&[("device_mapper_name", "vg-data"), ("made_of", "nvme0n1p3")]);
        assert_eq!(storage.other, expected);
    }

    #[test]
    fn a_filesystem_with_a_number_of_its_own_is_found_by_its_source() {
        let storage = server().host().storage(Path::new("/home/a"));
        assert_eq!(storage.filesystem.as_deref(), Some("btrfs"));
        assert_eq!(storage.device.as_deref(), Some("/dev/sdb"));
        assert_eq!(storage.rotational, Some(true));
        assert_eq!(storage.device_model.as_deref(), Some("ST4000NM0035"));
        assert_eq!(storage.readahead_bytes, Some(4 << 20), "its own, not the device's");
        assert_eq!(storage.other, other(&[("driver", "sd")]));
    }

    #[test]
    fn filesystems_without_device() {
        let tree = server();
        let storage = |path: &str| tree.host().storage(Path::new(path));
        assert_eq!(storage("/tmp/x").filesystem.as_deref(), Some("tmpfs"));
        assert_eq!(storage("/tmp/x").device, None);
        assert_eq!(storage("/net/x").device.as_deref(), Some("server:/export"));
        let expected = other(&[("overlay_upper_directory", "/data/upper")]);
        assert_eq!(storage("/merged").other, expected);
    }

    #[test]
    fn a_tree_without_mounts_leaves_everything_open() {
        let expected = Storage { directory: "/data".to_owned(), ..Storage::default() };
        assert_eq!(Tree::new(&[]).host().storage(Path::new("/data")), expected);
    }

    #[test]
    fn this_machine_tells_size_and_free_space_of_a_directory_to_be() {
        let storage = Host::here().storage(&std::env::temp_dir().join("not/there/yet"));
        // In a plain chroot nothing is mounted at its root, so the filesystem stays open.
        let mounts = Host::here().mounts();
        let root_is_mounted = mounts.iter().any(|mount| mount.point == Path::new("/"));
        assert!(storage.filesystem.is_some() || !root_is_mounted);
        assert!(storage.size_bytes.unwrap() >= storage.free_bytes.unwrap());
    }
}
