//! Types of elements, as far as they matter here.

use std::fmt;

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Dtype {
    /// 64-bit integers, also unsigned ones.
    Int64,
    /// 64-bit floats.
    Float64,
    /// Any other, with its bytes an element.
    #[serde(untagged)]
    Other(u64),
}

impl Dtype {
    /// Finds a type by PyTorch's name for it, with or without `torch.`; `None` for an unknown one.
    ///
    /// ```
    /// use neuronx_mem_int64::Dtype;
    ///
    /// assert_eq!(Dtype::by_name("torch.long"), Some(Dtype::Int64));
    /// assert_eq!(Dtype::by_name("bfloat16"), Some(Dtype::Other(2)));
    /// ```
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Some(match name.strip_prefix("torch.").unwrap_or(name) {
            "int64" | "long" | "uint64" => Self::Int64,
            "float64" | "double" => Self::Float64,
            "bool" | "int8" | "uint8" | "float8_e4m3fn" | "float8_e5m2" | "float8_e4m3fnuz"
            | "float8_e5m2fnuz" | "float8_e8m0fnu" | "quint8" | "qint8" => Self::Other(1),
            "int16" | "short" | "uint16" | "float16" | "half" | "bfloat16" => Self::Other(2),
            "int32" | "int" | "uint32" | "float32" | "float" | "qint32" | "complex32" => Self::Other(4),
            "complex64" => Self::Other(8),
            "complex128" => Self::Other(16),
            _ => return None,
        })
    }

    /// Returns the bytes of an element in device memory: 8 for the 64-bit types in every mode
    /// (guidelines for memory management, "Understand 64-bit dtype memory behavior").
    #[must_use]
    pub const fn element_bytes(self) -> u64 {
        match self {
            Self::Int64 | Self::Float64 => 8,
            Self::Other(bytes) => bytes,
        }
    }
}

impl fmt::Display for Dtype {
    /// Prints the name of a 64-bit type.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Int64 => "int64",
            Self::Float64 => "float64",
            Self::Other(_) => "other",
        })
    }
}
