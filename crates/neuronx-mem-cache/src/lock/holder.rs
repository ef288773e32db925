//! Who holds a lock, as the holder itself wrote it down. For people to read.
//!
//! Refuses to decide anything: whether a lock is held is known to the kernel alone.

use std::fmt;
use std::fs;
use std::process;

/// A process: its number means something only beside the start of the machine and its own.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// Process number, in the process's own namespace.
    pub process_id: u32,
    /// The machine's boot, as `/proc/sys/kernel/random/boot_id` prints it; empty where unknown.
    pub boot_id: String,
    /// Start of the process in clock ticks since the boot; 0 where unknown.
    pub started_ticks: u64,
}

/// What can be seen of a holder from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Presence {
    /// The process runs.
    Running,
    /// No such process is visible: it ended, or it is in another container.
    NotSeen,
    /// It wrote its name on another machine, or before this one was started.
    Elsewhere,
}

impl Holder {
    /// This process.
    #[must_use]
    pub fn current() -> Self {
        let process_id = process::id();
        Self { process_id, boot_id: boot_id(), started_ticks: started_ticks(process_id).unwrap_or(0) }
    }

    /// What can be seen of it now.
    #[must_use]
    pub fn presence(&self) -> Presence {
        if self.boot_id != boot_id() {
            return Presence::Elsewhere;
        }
        // Another process may have the number by now; its start tells.
        let is_running = started_ticks(self.process_id).is_some_and(|ticks| ticks == self.started_ticks);
        if is_running { Presence::Running } else { Presence::NotSeen }
    }

    /// The lines of a lock file.
    pub(super) fn to_record(&self) -> String {
        let Self { process_id, boot_id, started_ticks } = self;
        format!("process {process_id}\nboot {boot_id}\nstarted {started_ticks}\n")
    }

    /// Reads a lock file; `None` for anything but a whole record.
    pub(super) fn from_record(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let mut value = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ');
        Some(Self {
            process_id: value("process")?.parse().ok()?,
            boot_id: value("boot")?.to_owned(),
            started_ticks: value("started")?.parse().ok()?,
        })
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.presence() {
            Presence::Running => "",
            Presence::NotSeen => ", which is not visible here",
            Presence::Elsewhere => " of another machine or boot",
        };
        write!(f, "process {}{place}", self.process_id)
    }
}

fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// Field 22 of the process's `stat`, counted behind the name, which may hold anything.
fn started_ticks(process_id: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process_id}/stat")).ok()?;
    let (_, behind_name) = stat.rsplit_once(") ")?;
    behind_name.split(' ').nth(19)?.parse().ok()
}
