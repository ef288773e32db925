//! The status codes of libnrt as an enum. Unknown numbers are kept, not refused.

use std::fmt;

use neuronx_mem_runtime::Status;

macro_rules! statuses {
    ($($(#[$doc:meta])* $variant:ident = $number:literal),+ $(,)?) => {
        /// What a call of libnrt returned (`NRT_STATUS` of the public header `nrt_status.h`).
        ///
        /// ```
        /// use neuronx_mem_nrt::NrtStatus;
        ///
        /// let status = NrtStatus::from_code(4);
        /// assert!(status.is_out_of_memory());
        /// assert_eq!(status.to_string(), "NRT_RESOURCE (4): no device memory left");
        /// assert_eq!(NrtStatus::from_code(8), NrtStatus::Unknown(8));
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum NrtStatus {
            $($(#[$doc])* $variant,)+
            /// A number that the header does not define.
            Unknown(i32),
        }

        impl NrtStatus {
            /// All statuses that the header defines, in order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The status of this number.
            #[must_use]
            pub const fn from_code(code: i32) -> Self {
                match code {
                    $($number => Self::$variant,)+
                    other => Self::Unknown(other),
                }
            }

            /// Its number.
            #[must_use]
            pub const fn code(self) -> i32 {
                match self {
                    $(Self::$variant => $number,)+
                    Self::Unknown(code) => code,
                }
            }
        }
    };
}

statuses! {
    /// The call did what was asked.
    Success = 0,
    /// Failure without a nearer cause.
    Failure = 1,
    /// An argument, a model or an input is not valid.
    Invalid = 2,
    /// A handle names nothing.
    InvalidHandle = 3,
    /// No device memory left: the only status that starts a recovery.
    Resource = 4,
    /// The call took too long.
    Timeout = 5,
    /// The hardware failed.
    HardwareError = 6,
    /// A queue has no room.
    QueueFull = 7,
    /// Not enough cores for a model.
    LoadNotEnoughCores = 9,
    /// The model was compiled for another version.
    UnsupportedNeffVersion = 10,
    /// No host memory left.
    HostMemory = 11,
    /// The runtime has not been initialised.
    Uninitialized = 13,
    /// The runtime has been closed.
    Closed = 14,
    /// A queue holds nothing.
    QueueEmpty = 15,
    /// The execution unit cannot go on.
    ExecUnitUnrecoverable = 101,
    /// An execution got bad input.
    ExecBadInput = 1002,
    /// An execution ended with numeric errors.
    ExecNumericErrors = 1003,
    /// An execution ended with errors.
    ExecErrors = 1004,
    /// The core is busy.
    ExecCoreBusy = 1005,
    /// An execution accessed memory out of bounds.
    ExecOutOfBounds = 1006,
    /// A collective is not done yet.
    CollectivePending = 1100,
    /// Hardware error in collectives.
    ExecHardwareCollectives = 1200,
    /// Uncorrectable error of device memory.
    ExecHardwareHbm = 1201,
    /// Uncorrectable error of a core.
    ExecHardwareCore = 1202,
    /// A transfer was aborted.
    ExecHardwareDmaAbort = 1203,
    /// The notification queue overflowed.
    ExecQueueOverflow = 1204,
    /// Repairable error of device memory.
    ExecHardwareRepairableHbm = 1205,
    /// The network proxy failed.
    NetworkProxyFailure = 1206,
}

impl NrtStatus {
    /// Whether this says "no device memory", and nothing else does (allocator semantics §6).
    ///
    /// Host memory that ran out ([`HostMemory`](Self::HostMemory)) is another failure.
    #[must_use]
    pub const fn is_out_of_memory(self) -> bool {
        matches!(self, Self::Resource)
    }

    /// One line for people, without the number.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure without a nearer cause",
            Self::Invalid => "an argument, model or input is not valid",
            Self::InvalidHandle => "the handle is not valid",
            Self::Resource => "no device memory left",
            Self::Timeout => "the call took too long",
            Self::HardwareError => "the hardware failed",
            Self::QueueFull => "the queue is full",
            Self::LoadNotEnoughCores => "not enough cores to load the model",
            Self::UnsupportedNeffVersion => "the model's version is not supported",
            Self::HostMemory => "no host memory left",
            Self::Uninitialized => "the runtime is not initialised",
            Self::Closed => "the runtime is closed",
            Self::QueueEmpty => "the queue is empty",
            Self::ExecUnitUnrecoverable => "the execution unit cannot go on",
            Self::ExecBadInput => "the execution got bad input",
            Self::ExecNumericErrors => "the execution ended with numeric errors",
            Self::ExecErrors => "the execution ended with errors",
            Self::ExecCoreBusy => "the core is busy",
            Self::ExecOutOfBounds => "the execution went out of bounds",
            Self::CollectivePending => "the collective is not done yet",
            Self::ExecHardwareCollectives => "hardware error in collectives",
            Self::ExecHardwareHbm => "uncorrectable error of device memory",
            Self::ExecHardwareCore => "uncorrectable error of a core",
            Self::ExecHardwareDmaAbort => "a transfer was aborted",
            Self::ExecQueueOverflow => "the notification queue overflowed",
            Self::ExecHardwareRepairableHbm => "repairable error of device memory",
            Self::NetworkProxyFailure => "the network proxy failed",
            Self::Unknown(_) => "a status that the header does not define",
        }
    }
}

impl From<NrtStatus> for Status {
    /// The same number; a negative one, which the header has not, is a plain failure.
    fn from(status: NrtStatus) -> Self {
        u32::try_from(status.code()).map_or(Self::FAILURE, Self)
    }
}

impl fmt::Display for NrtStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.code();
        let name = u32::try_from(code).ok().and_then(|number| Status(number).name());
        match name {
            Some(name) => write!(f, "{name} ({code}): {}", self.text()),
            None => write!(f, "status {code}: {}", self.text()),
        }
    }
}

#[cfg(test)]
mod tests {
    use neuronx_mem_runtime::Status;

    use super::NrtStatus;

    #[test]
    fn every_number_of_the_header_has_a_name_and_a_variant() {
        let known: Vec<u32> = (0..2000).filter(|number| Status(*number).name().is_some()).collect();
        let ours: Vec<u32> = NrtStatus::ALL.iter().map(|status| Status::from(*status).0).collect();
        assert_eq!(ours, known);
        for status in NrtStatus::ALL {
            assert_eq!(NrtStatus::from_code(status.code()), *status);
        }
    }

    #[test]
    fn only_resource_is_out_of_memory() {
        let exhausted: Vec<i32> =
            (-5..2000).filter(|code| NrtStatus::from_code(*code).is_out_of_memory()).collect();
        assert_eq!(exhausted, [4]);
    }

    #[test]
    fn unknown_numbers_are_kept() {
        assert_eq!(
            NrtStatus::from_code(12).to_string(),
            "status 12: a status that the header does not define"
        );
        assert_eq!(Status::from(NrtStatus::from_code(12)), Status(12));
        assert_eq!(Status::from(NrtStatus::from_code(-7)), Status::FAILURE);
        assert_eq!(NrtStatus::from_code(-7).code(), -7);
    }

    #[test]
    fn texts() {
        let lines: Vec<String> = NrtStatus::ALL.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(lines.join("\n"));
    }
}
