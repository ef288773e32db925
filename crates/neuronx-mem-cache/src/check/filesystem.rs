//! File systems by the number that `statfs` gives, and what they are good for.
//!
//! Knows numbers and names. Looks at one path when asked; refuses to guess where there is no number,
//! as on systems other than Linux.

use std::fmt;
use std::io;
use std::path::Path;

/// A file system, as far as its number tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Filesystem {
    /// One of the table.
    Known(&'static str, Placement),
    /// A number that the table does not have.
    Other(u32),
    /// The system gives no number.
    Unknown,
}

/// What lies under a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Placement {
    /// A disk of the machine.
    Local,
    /// The memory of the machine; gone when it restarts.
    Memory,
    /// A container's layers; gone with the container.
    Container,
    /// Other machines. Locks cannot be relied on.
    Network,
    /// A program, which may ask other machines.
    Program,
    /// Nobody knows.
    Unknown,
}

/// Numbers of `linux/magic.h` and of the file systems that are built outside the kernel.
const TABLE: &[(u32, &str, Placement)] = &[
    (0x0000_ef53, "ext4", Placement::Local),
    (0x5846_5342, "xfs", Placement::Local),
    (0x9123_683e, "btrfs", Placement::Local),
    (0xf2f5_2010, "f2fs", Placement::Local),
    (0x2fc1_2fc1, "zfs", Placement::Local),
    (0xca45_1a4e, "bcachefs", Placement::Local),
    (0x3153_464a, "jfs", Placement::Local),
    (0x5265_4973, "reiserfs", Placement::Local),
    (0x0000_4d44, "vfat", Placement::Local),
    (0x2011_bab0, "exfat", Placement::Local),
    (0x7366_746e, "ntfs3", Placement::Local),
    (0x7371_7368, "squashfs", Placement::Local),
    (0xe0f5_e1e2, "erofs", Placement::Local),
    (0x0102_1994, "tmpfs", Placement::Memory),
    (0x8584_58f6, "ramfs", Placement::Memory),
    (0x794c_7630, "overlay", Placement::Container),
    (0x0000_6969, "nfs", Placement::Network),
    (0x0bd0_0bd0, "lustre", Placement::Network),
    (0xff53_4d42, "cifs", Placement::Network),
    (0xfe53_4d42, "smb2", Placement::Network),
    (0x0000_517b, "smb", Placement::Network),
    (0x00c3_6400, "ceph", Placement::Network),
    (0x4750_4653, "gpfs", Placement::Network),
    (0x1983_0326, "beegfs", Placement::Network),
    (0x5346_414f, "afs", Placement::Network),
    (0x6b41_4653, "afs", Placement::Network),
    (0x7375_7245, "coda", Placement::Network),
    (0x0116_1970, "gfs2", Placement::Network),
    (0x7461_636f, "ocfs2", Placement::Network),
    (0x0102_1997, "9p", Placement::Network),
    (0x6573_5546, "fuse", Placement::Program),
];

impl Filesystem {
    /// The file system of an existing path.
    ///
    /// # Errors
    ///
    /// What the system says, as for a path that is not there.
    pub fn of(path: &Path) -> io::Result<Self> {
        statistics(path).map(|statistics| statistics.filesystem)
    }

    /// The file system of a `statfs` number.
    ///
    /// ```
    /// use neuronx_mem_cache::check::{Filesystem, Placement};
    ///
    /// let lustre = Filesystem::from_magic(0x0bd0_0bd0);
    /// assert_eq!((lustre.to_string().as_str(), lustre.placement()), ("lustre", Placement::Network));
    /// ```
    #[must_use]
    pub fn from_magic(magic: u32) -> Self {
        let row = TABLE.iter().find(|(number, ..)| *number == magic);
        row.map_or(Self::Other(magic), |(_, name, placement)| Self::Known(name, *placement))
    }

    /// What lies under it.
    #[must_use]
    pub const fn placement(self) -> Placement {
        match self {
            Self::Known(_, placement) => placement,
            Self::Other(_) | Self::Unknown => Placement::Unknown,
        }
    }
}

impl fmt::Display for Filesystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(name, _) => f.pad(name),
            Self::Other(magic) => f.pad(&format!("type 0x{magic:x}")),
            Self::Unknown => f.pad("unknown"),
        }
    }
}

impl Placement {
    /// In one word, as JSON has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Memory => "memory",
            Self::Container => "container",
            Self::Network => "network",
            Self::Program => "program",
            Self::Unknown => "unknown",
        }
    }
}

/// What `statfs` and `statvfs` say of a path.
pub(super) struct Statistics {
    pub(super) filesystem: Filesystem,
    pub(super) free_bytes: u64,
    pub(super) total_bytes: u64,
}

pub(super) fn statistics(path: &Path) -> io::Result<Statistics> {
    let space = rustix::fs::statvfs(path)?;
    Ok(Statistics {
        filesystem: filesystem(path)?,
        // What others than root may use.
        free_bytes: space.f_bavail.saturating_mul(space.f_frsize),
        total_bytes: space.f_blocks.saturating_mul(space.f_frsize),
    })
}

#[cfg(target_os = "linux")]
fn filesystem(path: &Path) -> io::Result<Filesystem> {
    // The field is signed and of different widths; the number is its low 32 bits everywhere.
    let magic = i128::from(rustix::fs::statfs(path)?.f_type) & 0xffff_ffff;
    Ok(u32::try_from(magic).map_or(Filesystem::Unknown, Filesystem::from_magic))
}

#[cfg(not(target_os = "linux"))]
fn filesystem(_: &Path) -> io::Result<Filesystem> {
    Ok(Filesystem::Unknown)
}
