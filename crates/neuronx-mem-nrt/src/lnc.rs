//! The rule of logical cores: which part of an HBM stack one of them can count on. Reads two
//! variables when asked to; knows no topology.

use std::ffi::OsString;

/// Families of Neuron instances, by the number in libnrt (`nrt_instance_info_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InstanceFamily {
    /// Inferentia 1.
    Inf1,
    /// Trainium 1, also with the larger network.
    Trn1,
    /// Inferentia 2.
    Inf2,
    /// Trainium 2 of any kind.
    Trn2,
    /// Trainium 3 of any kind.
    Trn3,
    /// One that this crate does not know.
    Unknown,
}

impl InstanceFamily {
    /// The family of libnrt's number.
    #[must_use]
    pub const fn from_number(number: u32) -> Self {
        match number {
            1 => Self::Inf1,
            2 | 3 => Self::Trn1,
            4 | 7 => Self::Inf2,
            5 | 6 | 8..=13 => Self::Trn2,
            14 | 15 => Self::Trn3,
            _ => Self::Unknown,
        }
    }

    /// Physical cores of a logical one unless configured: 2 on trn2 and trn3.
    #[must_use]
    pub const fn default_lnc(self) -> u32 {
        match self {
            Self::Trn2 | Self::Trn3 => 2,
            _ => 1,
        }
    }

    /// Physical cores that share one stack: no logical core is larger.
    const fn most_lnc(self) -> u32 {
        match self {
            Self::Inf1 => 1,
            _ => 2,
        }
    }
}

/// How many physical cores form a logical one here, and what that means for memory.
///
/// ```
/// use neuronx_mem_nrt::{InstanceFamily, LogicalCores};
///
/// // At LNC 1 two logical cores of a trn2 share a stack of 24 GiB.
/// let cores = LogicalCores::new(InstanceFamily::Trn2, 1);
/// assert_eq!(cores.capacity_bytes(24 << 30), 12 << 30);
/// // On trn1 the runtime reports what the logical core has.
/// assert_eq!(LogicalCores::new(InstanceFamily::Trn1, 1).capacity_bytes(16 << 30), 16 << 30);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogicalCores {
    /// The instance's family.
    pub family: InstanceFamily,
    /// Physical cores of a logical one.
    pub lnc: u32,
}

impl LogicalCores {
    /// Puts the two together.
    #[must_use]
    pub const fn new(family: InstanceFamily, lnc: u32) -> Self {
        Self { family, lnc }
    }

    /// What one logical core can count on of the total that the runtime reports:
    /// `total * LNC / default LNC` on trn2 and trn3, where the total is the whole HBM stack; the total
    /// elsewhere (memory profiling guide, note on LNC 1; allocator semantics §6).
    #[must_use]
    pub fn capacity_bytes(&self, total_bytes: u64) -> u64 {
        let default = self.family.default_lnc();
        if self.lnc == 0 || self.lnc >= default {
            return total_bytes;
        }
        let part = u128::from(total_bytes) * u128::from(self.lnc) / u128::from(default);
        u64::try_from(part).unwrap_or(total_bytes)
    }

    /// The configuration in force: what the program says, else `NEURON_LOGICAL_NC_CONFIG`, else
    /// `NEURON_RT_VIRTUAL_CORE_SIZE`, else the family's default. A value that cannot be is warned of
    /// and passed over.
    pub(crate) fn in_force(
        family: InstanceFamily,
        said: Option<u32>,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Self {
        let is_possible = |lnc: u32| lnc.is_power_of_two() && lnc <= family.most_lnc();
        let named = ["NEURON_LOGICAL_NC_CONFIG", "NEURON_RT_VIRTUAL_CORE_SIZE"].into_iter();
        let set = named.filter_map(|name| Some((name, variable(name)?))).find_map(|(name, text)| {
            if text.is_empty() {
                return None;
            }
            let lnc = text.to_str().and_then(|text| text.trim().parse().ok()).filter(|lnc| is_possible(*lnc));
            if lnc.is_none() {
                tracing::warn!(name, value = %text.display(), "not a size of logical cores here; ignored");
            }
            lnc
        });
        let lnc = said.filter(|lnc| is_possible(*lnc)).or(set).unwrap_or(family.default_lnc());
        Self { family, lnc }
    }
}

#[cfg(test)]
mod tests {
    use super::{InstanceFamily, LogicalCores};

    #[track_caller]
    fn check(family: InstanceFamily, said: Option<u32>, variables: [&str; 2], expected: u32) {
        let variable = |name: &str| {
            let idx = usize::from(name == "NEURON_RT_VIRTUAL_CORE_SIZE");
            (variables[idx] != "-").then(|| variables[idx].into())
        };
        assert_eq!(LogicalCores::in_force(family, said, variable).lnc, expected);
    }

    #[test]
    fn the_program_then_the_variables_then_the_default() {
        use InstanceFamily::{Inf1, Trn1, Trn2, Trn3, Unknown};
        check(Trn2, None, ["-", "-"], 2);
        check(Trn1, None, ["-", "-"], 1);
        check(Unknown, None, ["-", "-"], 1);
        check(Trn3, None, ["1", "2"], 1);
        check(Trn3, None, ["-", "1"], 1);
        check(Trn3, None, ["", "1"], 1);
        check(Trn2, Some(2), ["1", "1"], 2);
        check(Trn2, None, ["3", "1"], 1);
        check(Trn2, None, ["4", "x"], 2);
        check(Trn2, Some(8), ["1", "-"], 1);
        check(Inf1, None, ["2", "-"], 1);
    }

    #[test]
    fn the_families_of_the_header() {
        let families: Vec<InstanceFamily> = (0..17).map(InstanceFamily::from_number).collect();
        let trn2 = families.iter().filter(|family| **family == InstanceFamily::Trn2).count();
        assert_eq!((trn2, families[0], families[16]), (8, InstanceFamily::Unknown, InstanceFamily::Unknown));
        assert_eq!((families[7], families[14]), (InstanceFamily::Inf2, InstanceFamily::Trn3));
    }

    #[test]
    fn the_rule_of_the_guide() {
        const GIB: u64 = 1 << 30;
        let capacity = |family, lnc, total| LogicalCores::new(family, lnc).capacity_bytes(total * GIB) / GIB;
        assert_eq!(capacity(InstanceFamily::Trn2, 1, 24), 12);
        assert_eq!(capacity(InstanceFamily::Trn2, 2, 24), 24);
        assert_eq!(capacity(InstanceFamily::Trn3, 1, 36), 18);
        assert_eq!(capacity(InstanceFamily::Trn1, 1, 16), 16);
        assert_eq!(capacity(InstanceFamily::Inf2, 2, 32), 32);
        assert_eq!(LogicalCores::new(InstanceFamily::Trn2, 1).capacity_bytes(u64::MAX), u64::MAX / 2);
    }
}
