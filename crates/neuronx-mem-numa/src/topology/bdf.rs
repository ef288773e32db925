//! Addresses on the PCI bus.
//!
//! Knows the two forms that `neuron-ls` prints. Refuses wildcards.

use std::fmt;
use std::str::FromStr;

/// Bus, device and function of a PCI device, with its domain.
///
/// ```
/// use neuronx_mem_numa::Bdf;
///
/// let short: Bdf = "cc:00.0".parse()?;
/// assert_eq!(Ok(short), "0000:CC:00.0".parse());
/// assert_eq!(short.to_string(), "0000:cc:00.0");
/// # Ok::<(), &'static str>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bdf {
    domain: u32,
    bus: u8,
    device: u8,
    function: u8,
}

impl FromStr for Bdf {
    type Err = &'static str;

    /// Reads `bus:device.function`, or the same with `domain:` before it, in hexadecimal digits.
    ///
    /// # Errors
    ///
    /// What was expected, for any other text.
    fn from_str(text: &str) -> Result<Self, &'static str> {
        parse(text).ok_or("not an address such as 0000:cc:00.0 or cc:00.0")
    }
}

fn parse(text: &str) -> Option<Bdf> {
    let (rest, function) = text.trim().rsplit_once('.')?;
    let (rest, device) = rest.rsplit_once(':')?;
    let (domain, bus) = rest.rsplit_once(':').unwrap_or(("0", rest));
    let device = u8::try_from(hex(device, 2)?).ok().filter(|device| *device < 32)?;
    let function = u8::try_from(hex(function, 1)?).ok().filter(|function| *function < 8)?;
    Some(Bdf { domain: hex(domain, 8)?, bus: u8::try_from(hex(bus, 2)?).ok()?, device, function })
}

fn hex(text: &str, max_digits: usize) -> Option<u32> {
    let is_hex = (1..=max_digits).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hex { u32::from_str_radix(text, 16).ok() } else { None }
}

impl fmt::Display for Bdf {
    /// Prints the form with the domain, which is a name in `/sys/bus/pci/devices`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { domain, bus, device, function } = self;
        write!(f, "{domain:04x}:{bus:02x}:{device:02x}.{function}")
    }
}
