//! Finds WiredTiger 11.3: `WIREDTIGER_DIR`, else what `scripts/wiredtiger.sh` built, else pkg-config, else by calling that script.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};

/// Structures change between minor versions, so the bindings fit this one alone.
const MAJOR_MINOR: (&str, &str) = ("11", "3");

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=WIREDTIGER_DIR");
    if let Err(message) = find() {
        eprintln!("\n{message}\n");
        exit(1);
    }
}

fn find() -> Result<(), String> {
    if let Some(prefix) = env::var_os("WIREDTIGER_DIR").filter(|prefix| !prefix.is_empty()) {
        let prefix = PathBuf::from(prefix);
        return link(&prefix)
            .map_err(|problem| format!("WIREDTIGER_DIR={}: {problem}", prefix.display()));
    }

    let manifest = env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it for build scripts");
    let root = Path::new(&manifest).join("../..");
    let built = root.join("target/wiredtiger/11.3.1");
    let stamp = built.join("stamp");
    println!("cargo:rerun-if-changed={}", stamp.display());
    if stamp.exists() {
        return link(&built).map_err(|problem| format!("{}: {problem}", built.display()));
    }

    if pkg_config::Config::new().range_version("11.3".."11.4").probe("wiredtiger").is_ok() {
        return Ok(());
    }
    build(&root.join("scripts/wiredtiger.sh"))?;
    link(&built)
}

/// Builds it, as `./x build` does beforehand.
fn build(script: &Path) -> Result<(), String> {
    let output = Command::new("bash").arg(script).output();
    let why = match output {
        Ok(output) if output.status.success() => return Ok(()),
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(problem) => format!("{}: {problem}", script.display()),
    };
    Err(format!(
        "{why}\n\nWiredTiger 11.3 is not there, pkg-config knows none, and it could not be built. Mend what is said above; or set WIREDTIGER_DIR to a \
         prefix that holds include/wiredtiger.h and lib/libwiredtiger.a; or build without the feature `wiredtiger`."
    ))
}

/// Links the library under a prefix, statically where there is an archive.
fn link(prefix: &Path) -> Result<(), String> {
    let header_path = prefix.join("include/wiredtiger.h");
    println!("cargo:rerun-if-changed={}", header_path.display());
    let header = std::fs::read_to_string(&header_path)
        .map_err(|problem| format!("cannot read {}: {problem}", header_path.display()))?;
    let found = (
        defined(&header, "WIREDTIGER_VERSION_MAJOR"),
        defined(&header, "WIREDTIGER_VERSION_MINOR"),
    );
    if found != (Some(MAJOR_MINOR.0), Some(MAJOR_MINOR.1)) {
        let (major, minor) = (found.0.unwrap_or("?"), found.1.unwrap_or("?"));
        return Err(format!(
            "this is WiredTiger {major}.{minor}, the bindings are for {}.{} alone; run `./x build` without WIREDTIGER_DIR to get the right one",
            MAJOR_MINOR.0, MAJOR_MINOR.1
        ));
    }

    let target = env::var("CARGO_CFG_TARGET_ARCH").expect("cargo sets it for build scripts");
    let folders = ["lib".to_owned(), "lib64".to_owned(), format!("lib/{target}-linux-gnu")];
    for folder in folders.map(|folder| prefix.join(folder)) {
        if folder.join("libwiredtiger.a").exists() {
            println!("cargo:rustc-link-search=native={}", folder.display());
            println!("cargo:rustc-link-lib=static=wiredtiger");
            for compressor in ["snappy", "zstd"] {
                let archived = folder.join(format!("lib{compressor}.a")).exists();
                let kind = if archived { "static" } else { "dylib" };
                println!("cargo:rustc-link-lib={kind}={compressor}");
            }
            // snappy is C++.
            for system in ["stdc++", "pthread", "dl", "rt"] {
                println!("cargo:rustc-link-lib=dylib={system}");
            }
            return Ok(());
        }
        if folder.join("libwiredtiger.so").exists() {
            println!("cargo:rustc-link-search=native={}", folder.display());
            println!("cargo:rustc-link-lib=dylib=wiredtiger");
            return Ok(());
        }
    }
    Err("there is neither lib/libwiredtiger.a nor lib/libwiredtiger.so".to_owned())
}

/// The value of a `#define`.
fn defined<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    for line in header.lines() {
        let mut words = line.split_whitespace();
        if words.next() == Some("#define") && words.next() == Some(name) {
            return words.next();
        }
    }
    None
}
