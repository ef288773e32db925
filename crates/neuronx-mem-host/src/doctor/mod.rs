//! The host doctor: from what the kernel says about free memory to what a request will meet.
//!
//! Reads files and calculates. It changes nothing on the host and runs no command: remedies are texts.

mod blocks;
mod buddyinfo;
mod diagnosis;
mod driver;
mod hugepages;
mod lines;
mod meminfo;
mod pagetypeinfo;
mod reading;
mod remedy;
mod zone;
mod zoneinfo;

pub use blocks::FreeBlocks;
pub use buddyinfo::{BuddyInfo, ZoneBlocks};
pub use diagnosis::{Diagnosis, Need, NodeForecast, Verdict};
pub use driver::{DriverReading, ReserveForecast};
pub use hugepages::NodeHugePages;
pub use meminfo::MemInfo;
pub use pagetypeinfo::{MigrateType, PageBlocks, PageTypeInfo, TypeBlocks};
pub use reading::HostReading;
pub use remedy::{Remedy, RemedyKind};
pub use zoneinfo::{ZoneInfo, ZoneMarks};

#[cfg(test)]
mod tests;
