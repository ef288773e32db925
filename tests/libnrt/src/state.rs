//! The library's life, its devices and its tensors. Knows handles as numbers; touches no pointer.

use std::collections::BTreeMap;

use neuronx_mem_runtime::{DeviceId, DeviceRuntime, RuntimeError, SegmentHandle, SliceHandle, Status};
use neuronx_mem_sim::{Lnc, Preset, SimulatedRuntime};
use parking_lot::Mutex;

use crate::pages::Pages;
use crate::settings::{NonsenseKind, Settings};

/// The one state of the library, as libnrt has one of a process.
pub(crate) static STATE: Mutex<State> = Mutex::new(State::new());

/// Handles are multiples of this, from a number that is no address of memory.
const HANDLE_STEP: usize = 16;

pub(crate) struct State {
    /// Settings of `nrt_standin_configure`, on top of the environment.
    pub(crate) overrides: String,
    life: Life,
    last_handle: usize,
    last_storage: u64,
    tensors: BTreeMap<usize, Tensor>,
    storages: BTreeMap<u64, Storage>,
    last_tensor: Option<usize>,
    pub(crate) invalid_frees: u64,
}

enum Life {
    Uninitialized,
    Open { runtime: Box<SimulatedRuntime>, settings: Box<Settings> },
    Closed,
}

/// A tensor or a slice: a range of a storage.
#[derive(Clone, Copy)]
pub(crate) struct Tensor {
    storage: u64,
    pub(crate) offset: usize,
    pub(crate) bytes: usize,
    slice: Option<SliceHandle>,
    /// Added to the address that it says it has.
    displacement: i64,
    has_address: bool,
}

/// Memory that tensors share.
pub(crate) struct Storage {
    pub(crate) device: DeviceId,
    segment: SegmentHandle,
    address: u64,
    n_tensors: usize,
    pub(crate) pages: Pages,
}

pub(crate) type Outcome<T> = Result<T, Status>;

impl State {
    const fn new() -> Self {
        Self {
            overrides: String::new(),
            life: Life::Uninitialized,
            last_handle: 0x5000,
            last_storage: 0,
            tensors: BTreeMap::new(),
            storages: BTreeMap::new(),
            last_tensor: None,
            invalid_frees: 0,
        }
    }

    /// The settings in force: those of the start, else of the environment. A bad one is `INVALID`.
    pub(crate) fn settings(&self) -> Outcome<Settings> {
        if let Life::Open { settings, .. } = &self.life {
            return Ok((**settings).clone());
        }
        let mut settings = Settings::from_environment().map_err(|_| Status::INVALID)?;
        settings.apply(&self.overrides).map_err(|_| Status::INVALID)?;
        Ok(settings)
    }

    pub(crate) fn init(&mut self) -> Outcome<()> {
        match self.life {
            Life::Open { .. } => return Err(Status::FAILURE),
            Life::Closed => return Err(Status::CLOSED),
            Life::Uninitialized => {}
        }
        let settings = self.settings()?;
        if settings.init != 0 {
            return Err(u32::try_from(settings.init).map_or(Status::FAILURE, Status));
        }
        let mut builder = SimulatedRuntime::builder().devices(settings.devices).preset(settings.family);
        if let Some(lnc) = settings.lnc {
            builder = builder.lnc(lnc);
        }
        if let Some(bytes) = settings.memory {
            builder = builder.memory_bytes(bytes);
        }
        let runtime = Box::new(builder.faults(settings.faults.clone()).build());
        self.life = Life::Open { runtime, settings: Box::new(settings) };
        Ok(())
    }

    /// Frees everything, as libnrt does.
    pub(crate) fn close(&mut self) {
        if let Life::Open { runtime, .. } = &self.life {
            runtime.close();
            self.life = Life::Closed;
            self.tensors.clear();
            self.storages.clear();
        }
    }

    fn open(&self) -> Outcome<(&SimulatedRuntime, &Settings)> {
        match &self.life {
            Life::Uninitialized => Err(Status::UNINITIALIZED),
            Life::Open { runtime, settings } => Ok((runtime, settings)),
            Life::Closed => Err(Status::CLOSED),
        }
    }

    pub(crate) fn allocate(&mut self, device: DeviceId, bytes: usize) -> Outcome<usize> {
        let (runtime, settings) = self.open()?;
        let garbage = settings.garbage;
        match garbage {
            Some(NonsenseKind::Null) => return Ok(0),
            Some(NonsenseKind::Dangling) => return Ok(0xdead_bee0),
            Some(NonsenseKind::Status) => return Err(Status(77)),
            Some(NonsenseKind::Duplicate) => {
                if let Some(last) = self.last_tensor.filter(|last| self.tensors.contains_key(last)) {
                    return Ok(last);
                }
            }
            _ => {}
        }
        let allocation = runtime.allocate_segment(device, bytes as u64).map_err(status)?;
        let storage = Storage {
            device,
            segment: allocation.handle,
            address: allocation.address,
            n_tensors: 1,
            pages: Pages::default(),
        };
        let before = self.last_tensor.and_then(|last| self.tensors.get(&last)).copied();
        let before = before.and_then(|tensor| Some(self.storages.get(&tensor.storage)?.address));
        let displacement = match (garbage, before) {
            (Some(NonsenseKind::Misaligned), _) => 3,
            (Some(NonsenseKind::Overlap), Some(before)) => {
                (before + 64).cast_signed() - storage.address.cast_signed()
            }
            _ => 0,
        };
        let shown = if garbage == Some(NonsenseKind::Short) { bytes / 2 } else { bytes };
        self.last_storage += 1;
        self.storages.insert(self.last_storage, storage);
        let tensor = Tensor {
            storage: self.last_storage,
            offset: 0,
            bytes: shown,
            slice: None,
            displacement,
            has_address: garbage != Some(NonsenseKind::NullAddress),
        };
        let handle = self.add(tensor);
        self.last_tensor = Some(handle);
        Ok(handle)
    }

    pub(crate) fn slice(&mut self, parent: usize, offset: usize, bytes: usize) -> Outcome<usize> {
        let (runtime, settings) = self.open()?;
        let garbage = settings.garbage;
        let (parent_handle, parent) = (parent, self.tensor(parent)?);
        let end = offset.checked_add(bytes).ok_or(Status::INVALID)?;
        if bytes == 0 || end > parent.bytes {
            return Err(Status::INVALID);
        }
        match garbage {
            Some(NonsenseKind::Null) => return Ok(0),
            Some(NonsenseKind::Dangling) => return Ok(0xdead_bee0),
            Some(NonsenseKind::Status) => return Err(Status(77)),
            Some(NonsenseKind::Duplicate) => return Ok(parent_handle),
            _ => {}
        }
        let offset = parent.offset + offset;
        let storage = self.storages.get(&parent.storage).ok_or(Status::INVALID_HANDLE)?;
        let slice =
            runtime.slice(storage.device, storage.segment, offset as u64, bytes as u64).map_err(status)?;
        let displacement = if garbage == Some(NonsenseKind::Overlap) { 64 } else { 0 };
        let tensor = Tensor { offset, bytes, slice: Some(slice), displacement, ..parent };
        if let Some(storage) = self.storages.get_mut(&parent.storage) {
            storage.n_tensors += 1;
        }
        Ok(self.add(tensor))
    }

    pub(crate) fn free(&mut self, handle: usize) {
        if self.open().is_err() {
            return;
        }
        let Some(tensor) = self.tensors.remove(&handle) else {
            self.invalid_frees += 1;
            return;
        };
        let Some(storage) = self.storages.get_mut(&tensor.storage) else { return };
        storage.n_tensors -= 1;
        let (device, segment, is_last) = (storage.device, storage.segment, storage.n_tensors == 0);
        if is_last {
            self.storages.remove(&tensor.storage);
        }
        // The function returns nothing: what the simulated device refuses is lost, as it would be there.
        if let Ok((runtime, _)) = self.open() {
            if let Some(slice) = tensor.slice {
                let _ = runtime.free_slice(device, slice);
            }
            if is_last {
                let _ = runtime.free_segment(device, segment);
            }
        }
    }

    pub(crate) fn tensor(&self, handle: usize) -> Outcome<Tensor> {
        self.open()?;
        self.tensors.get(&handle).copied().ok_or(Status::INVALID_HANDLE)
    }

    /// The storage of a range of a tensor, and where in it the range starts.
    pub(crate) fn range(
        &mut self,
        handle: usize,
        offset: usize,
        bytes: usize,
    ) -> Outcome<(&mut Storage, usize)> {
        let tensor = self.tensor(handle)?;
        let end = offset.checked_add(bytes).ok_or(Status::INVALID)?;
        if end > tensor.bytes {
            return Err(Status::INVALID);
        }
        let storage = self.storages.get_mut(&tensor.storage).ok_or(Status::INVALID_HANDLE)?;
        Ok((storage, tensor.offset + offset))
    }

    /// The device address that a tensor says it has; 0 for none.
    pub(crate) fn address(&self, handle: usize) -> u64 {
        let Ok(tensor) = self.tensor(handle) else { return 0 };
        let Some(storage) = self.storages.get(&tensor.storage) else { return 0 };
        let address = storage.address + tensor.offset as u64;
        if tensor.has_address { address.wrapping_add_signed(tensor.displacement) } else { 0 }
    }

    pub(crate) fn place(&self, handle: usize) -> Outcome<(u64, usize, i32)> {
        let tensor = self.tensor(handle)?;
        let storage = self.storages.get(&tensor.storage).ok_or(Status::INVALID_HANDLE)?;
        Ok((storage.address + tensor.offset as u64, tensor.bytes, self.hbm(storage.device)?))
    }

    /// The HBM stack of a device: at LNC 1 on trn2 and trn3 two devices share one.
    pub(crate) fn hbm(&self, device: DeviceId) -> Outcome<i32> {
        let (_, settings) = self.open()?;
        let is_shared = settings.lnc == Some(Lnc::One) && settings.family.default_lnc() == Lnc::Two;
        let stack = if is_shared { device.0 / 2 } else { device.0 };
        i32::try_from(stack).map_err(|_| Status::INVALID)
    }

    /// Bytes in use by this core, and bytes of its stack.
    pub(crate) fn memory(&self, device: DeviceId) -> Outcome<(u64, u64)> {
        let (runtime, settings) = self.open()?;
        let info = runtime.memory_info(device).map_err(status)?;
        // The simulator counts the neighbour's half at LNC 1; libnrt counts its own core.
        let lnc = settings.lnc.unwrap_or(settings.family.default_lnc());
        let (total, own) = (settings.family.total_bytes(lnc), settings.family.core_capacity_bytes(lnc));
        let neighbour = if settings.memory.is_some() { 0 } else { total - own };
        Ok((info.used_bytes.saturating_sub(neighbour), info.limit_bytes))
    }

    pub(crate) fn family_number(&self) -> Outcome<u32> {
        Ok(match self.settings()?.family {
            Preset::Trn1 => 2,
            Preset::Inf2 => 4,
            Preset::Trn2 => 5,
            Preset::Trn3 => 14,
            _ => 0,
        })
    }

    pub(crate) fn counts(&self) -> (usize, usize, u64) {
        let held = self.open().map_or(0, |(runtime, settings)| {
            (0..settings.devices).map(|device| runtime.counters(DeviceId(device)).held_bytes).sum()
        });
        (self.tensors.len(), self.storages.len(), held)
    }

    fn add(&mut self, tensor: Tensor) -> usize {
        self.last_handle += HANDLE_STEP;
        self.tensors.insert(self.last_handle, tensor);
        self.last_handle
    }
}

fn status(error: RuntimeError) -> Status {
    error.status
}
