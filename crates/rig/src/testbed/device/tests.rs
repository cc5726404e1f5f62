use super::*;
use crate::testbed::laboratory::{LOOPS, LoopDevice};
use plimsoll_testing::{assert_contains, needs};
use std::os::unix::fs::symlink;

fn said(result: Result<Device, TestbedError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn only_stable_names_are_taken() {
    for name in ["/dev/sda", "disk", "/dev/disk/by-id/../../sda", "/dev/disk"] {
        let error = resolve(Path::new(name)).unwrap_err().to_string();
        assert_contains(&error, "is not touched: it is no stable name");
    }
    let error = resolve(Path::new("/dev/disk/by-id/nothing-of-this-name")).unwrap_err();
    assert_contains(&error, "cannot be found");
}

#[test]
fn a_file_is_no_device() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    let link = folder.path().join("link");
    symlink(&file, &link).unwrap();
    let error = said(check(&link, &file, &Tools::of("test")));
    let expected = format!("{} is not touched: it is no block device", link.display());
    assert_eq!(error, expected);
}

mod slow {
    use super::*;

    #[test]
    fn a_device_is_refused_when_anything_but_a_filesystem_could_be_lost() {
        needs!(LOOPS);
        let tools = Tools::of("test");
        let folder = tempfile::tempdir().unwrap();
        let device = LoopDevice::new(folder.path(), "disk", 64 << 20);
        let path = device.path();
        let named = Path::new("/dev/disk/by-id/test");
        let run = |program: &str, arguments: &[&str]| {
            let mut arguments: Vec<&std::ffi::OsStr> =
                arguments.iter().map(|word| word.as_ref()).collect();
            arguments.push(path.as_os_str());
            tools.run(program, &arguments).unwrap();
        };

        let empty = check(named, &path, &tools).unwrap();
        assert_eq!((empty.bytes, &empty.name), (64 << 20, &device.name));

        run("mkfs.ext4", &["-q"]);
        check(named, &path, &tools).unwrap();

        let point = folder.path().join("mnt");
        fs::create_dir(&point).unwrap();
        tools.run("mount", &[path.as_os_str(), point.as_os_str()]).unwrap();
        let error = said(check(named, &path, &tools));
        rustix::mount::unmount(&point, rustix::mount::UnmountFlags::DETACH).unwrap();
        assert_contains(&error, "is mounted at");
        assert_contains(&error, "unmount it first");

        run("mkswap", &["-f"]);
        let error = said(check(named, &path, &tools));
        assert_contains(&error, "holds swap");

        // A partition table as old disks have it: its signature and one entry.
        let mut table = vec![0_u8; 4096];
        table[446..462].copy_from_slice(&[0, 0, 2, 0, 0x83, 0, 0, 0, 8, 0, 0, 0, 100, 0, 0, 0]);
        table[510..512].copy_from_slice(&[0x55, 0xaa]);
        run("wipefs", &["--all", "--quiet"]);
        fs::write(&path, &table).unwrap();
        let error = said(check(named, &path, &tools));
        assert_contains(&error, "partition");

        run("wipefs", &["--all", "--quiet"]);
        let flags = OFlags::RDWR | OFlags::EXCL | OFlags::CLOEXEC;
        let held = rustix::fs::open(&path, flags, Mode::empty()).unwrap();
        let error = said(check(named, &path, &tools));
        assert_contains(&error, "is in use");
        drop(held);
        // A program that another test starts at this moment holds what is open here until it is on its own.
        let longest = std::time::Duration::from_secs(10);
        assert!(crate::testbed::wait::until(longest, || { check(named, &path, &tools).is_ok() }));
    }
}
