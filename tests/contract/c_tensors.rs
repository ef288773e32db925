//! Tensors and transfers of the C ABI, which only a libnrt has.

use std::ffi::c_void;
use std::ptr;

use neuronx_mem_capi::nxm_status::{NXM_INVALID_ARGUMENT, NXM_OK};

use super::c_abi::{CAbi, api, message};
use super::standin::Standin;
use super::{MIB, Setup};

#[test]
fn a_c_program_holds_tensors_and_moves_bytes() {
    let standin = Standin::new("");
    let subject = CAbi::make("C over libnrt", &Setup::default(), Some(standin));
    let (device, api) = (subject.device(), api());
    let block = super::Subject::allocate(&subject, 4 * MIB, 0).unwrap();
    let (at, mut tensor, mut again) = (block.address, ptr::null_mut(), ptr::null_mut());
    let (from, mut into) = ([1_u8, 2, 3, 4], [0_u8; 4]);
    // SAFETY: pointers come from the library or are to locals of the sizes named.
    unsafe {
        assert_eq!((api.tensor_acquire)(device, at, 4 * MIB, &raw mut tensor), NXM_OK);
        assert_eq!((api.tensor_acquire)(device, at, 4 * MIB, &raw mut again), NXM_OK);
        assert!(!(api.tensor_nrt)(tensor).is_null());
        assert_eq!((api.tensor_nrt)(tensor), (api.tensor_nrt)(again));
        assert_eq!((api.tensor_acquire)(device, at, 65 * MIB, &mut ptr::null_mut()), NXM_INVALID_ARGUMENT);
        assert_eq!((api.write)(device, at + 10, from.as_ptr().cast::<c_void>(), 4), NXM_OK);
        assert_eq!((api.copy)(device, at + 10, 0, at + 1000, 4), NXM_OK);
        assert_eq!((api.fill)(device, at + 1001, 9, 2), NXM_OK);
        assert_eq!((api.read)(device, at + 1000, into.as_mut_ptr().cast::<c_void>(), 4), NXM_OK);
        assert_eq!((api.copy)(device, at, 0, at + 1, 4), NXM_INVALID_ARGUMENT);
        (api.tensor_release)(tensor);
        (api.tensor_release)(again);
    }
    assert_eq!(into, [1, 9, 9, 4]);
    super::Subject::free(&subject, &block).unwrap();
    super::Subject::end(Box::new(subject));
}

#[test]
fn a_c_program_is_told_what_the_status_leaves_out() {
    let subject = CAbi::make("C over libnrt", &Setup::default(), Some(Standin::new("version=2.29.0.0")));
    assert!(super::Subject::allocate(&subject, 5 << 30, 0).is_err());
    insta::assert_snapshot!(message(), @"allocate segment of 5368709120 bytes on device 0 failed: NRT_INVALID (2): 5368709120 bytes in one allocation overflow in libnrt 2.29.0.0: update it, or stay below 4 GiB");
    super::Subject::end(Box::new(subject));
}
